import Foundation
import Simulators

/// `kill -9` at random instants while thousands of pushes are in flight, start again, and again; then to the end.
///
/// Each database gets an evening of its own, a process that replays it, and a gateway in this process that takes its
/// time to answer. A process is killed at an instant drawn from the seed, and the next one carries on. What the gateway
/// has taken is held against what the evening must lead to: none missing, none that should not be, and twice only what
/// was in flight at a kill.
struct CrashBenchmark {
    /// Of one database at most, so that the kills meet every stage of a replay.
    private static let killsPerDatabase = 12
    /// A process lives so many milliseconds at most; short lives, which end while events are still read, are likelier.
    private static let longestLife = 450.0

    private var kills = 200
    private var events = 12_000
    private var seed: UInt64 = 1
    private var place = FileManager.default.currentDirectoryPath

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            guard let value = rest.popFirst() else { throw BenchmarkError("\(flag) needs a value") }
            switch (flag, Int(value)) {
            case ("--kills", let number?) where number > 0: kills = number
            case ("--events", let number?) where number > 0: events = number
            case ("--seed", let number?) where number >= 0: seed = UInt64(number)
            case ("--on", _) where value == "tmpfs": place = "/dev/shm"
            case ("--on", _) where value == "disk": break
            default: throw BenchmarkError("unknown flag \(flag) or bad value \(value)")
            }
        }
    }

    func run() async throws {
        var random = Draw(state: seed)
        var total = CrashFigures()
        while total.kills < kills {
            let number = UInt64(total.databases)
            let stage = try await CrashStage(
                seed: seed &* 1000 &+ number, events: events, faults: Self.faults(Int(number)), in: place)
            let figures = try stage.run(kills: min(Self.killsPerDatabase, kills - total.kills)) {
                let share = Double.random(in: 0..<1, using: &random)
                return .milliseconds(5 + Int(Self.longestLife * share * share))
            }
            say(
                "database \(number + 1), \(Self.names[Int(number) % Self.names.count]): \(figures.kills) kills, "
                    + "\(grouped(Double(figures.delivered))) of \(grouped(Double(figures.expected))) pushes, "
                    + "\(figures.duplicates) twice")
            total.add(figures)
        }
        report(total)
        guard total.isFaultless else { throw BenchmarkError("promises were broken") }
    }

    /// What the gateways do wrong, in turn. Nothing here leaves it open whether a push was delivered: so that whatever
    /// comes twice comes of a kill.
    private static func faults(_ database: Int) -> Faults {
        var faults = Faults()
        faults.seed = UInt64(database)
        faults.delay = .milliseconds(20)...(.milliseconds(250))
        switch database % names.count {
        case 1:
            faults.rules = [
                .init(.refuse, when: [.percent(5)]),
                .init(.answer(.serviceUnavailable), when: [.percent(5), .first(1)]),
            ]
        case 2: faults.goAway = Faults.GoAway(afterRequests: 700)
        case 3:
            faults.streams = [
                .init(1000), .init(3, afterRequests: 1500), .init(1000, afterRequests: 1500, delay: .milliseconds(30)),
            ]
        default: break
        }
        return faults
    }

    private static let names = ["a slow gateway", "refusals and 503", "GOAWAY every 700", "limits on streams"]

    private func report(_ total: CrashFigures) {
        let inFlight = total.inFlight.sorted()
        say(
            """
            crash: \(total.kills) kills over \(total.databases) databases, \(grouped(Double(total.expected))) pushes
              in flight at a kill      median \(inFlight.isEmpty ? 0 : inFlight[inFlight.count / 2]), most \(inFlight.last ?? 0), together \(grouped(Double(inFlight.reduce(0, +))))
              kills with some, 1,000 or more in flight: \(inFlight.count { $0 > 0 }), \(inFlight.count { $0 >= 1000 })
              missing                  \(total.missing)
              not called for           \(total.unexpected)
              twice, in flight at a kill  \(total.duplicates - total.inexcusable)
              twice, otherwise         \(total.inexcusable)
              without an outcome       \(total.unsettled)
              sent in the books alone  \(total.falselySent)
            """)
    }
}

/// What has been counted so far.
struct CrashFigures {
    var databases = 0
    var kills = 0
    /// Pushes that the evenings called for, and those of them that were accepted.
    var expected = 0
    var delivered = 0
    var missing = 0
    var unexpected = 0
    /// Accepted once more than they should have been; and those among them that were not in flight at a kill.
    var duplicates = 0
    var inexcusable = 0
    /// Rows that are neither sent nor given up at the end, and rows that are called sent but never were.
    var unsettled = 0
    var falselySent = 0
    /// Rows that were being sent, by kill.
    var inFlight: [Int] = []

    var isFaultless: Bool { missing + unexpected + inexcusable + unsettled + falselySent == 0 }

    mutating func add(_ other: CrashFigures) {
        databases += other.databases
        kills += other.kills
        expected += other.expected
        delivered += other.delivered
        missing += other.missing
        unexpected += other.unexpected
        duplicates += other.duplicates
        inexcusable += other.inexcusable
        unsettled += other.unsettled
        falselySent += other.falselySent
        inFlight += other.inFlight
    }
}

/// SplitMix64: the same numbers in every process with the same seed.
private struct Draw: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
