import Foundation
import Net
import Push

/// `push.send` → outbox → wire, beside h2load with the same header fields and body. The counterpart runs in a process
/// and on a processor of its own, the sender and h2load in turn on the other.
struct PushBenchmark {
    /// In the order in which they run: the one that looks at memory before those that need much of it themselves.
    private enum Part: String, CaseIterable { case wire, backlog, latency, outbox, delay }

    private var parts = Part.allCases
    private var rounds = 5
    private var pushes = 100_000
    private var rows = 1_000_000
    private var seconds = 10
    /// What HTTP/2 begins with, and most servers keep (RFC 9113 §6.9.2).
    private var window = 65_535
    private var place = FileManager.default.currentDirectoryPath
    private let sample = SamplePush(devices: 1000)

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            guard let value = rest.popFirst() else { throw BenchmarkError("\(flag) needs a value") }
            switch (flag, Int(value)) {
            case ("--rounds", let number?) where number > 0: rounds = number
            case ("--pushes", let number?) where number > 0: pushes = number
            case ("--rows", let number?) where number > 0: rows = number
            case ("--seconds", let number?) where number > 0: seconds = number
            case ("--window", let number?) where number >= 65_535: window = number
            case ("--on", _) where value == "tmpfs": place = "/dev/shm"
            case ("--on", _) where value == "disk": break
            case ("--only", _) where Part(rawValue: value) != nil: parts.removeAll { $0.rawValue != value }
            default: throw BenchmarkError("unknown flag \(flag) or bad value \(value)")
            }
        }
    }

    func run() async throws {
        Processors.pin(to: Processors.sender)
        say(
            """
            sender on processor \(Processors.sender), counterpart on \(Processors.counterpart), \
            connection window of \(grouped(Double(window))) bytes
            """)
        for part in parts {
            switch part {
            case .wire: try await wire()
            case .outbox: try await outbox()
            case .backlog: try await backlog()
            case .latency: try await latency()
            case .delay: try await delayed()
            }
        }
    }

    /// Runs `body` with an empty folder, which is gone afterwards.
    private func scratch<T>(_ body: (String) async throws -> T) async throws -> T {
        let folder = place + "/hark-bench-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try await body(folder)
    }

    // MARK: The wire alone

    private func wire() async throws {
        for decodes in [false, true] { try await wire(decodes) }
    }

    /// - Parameter decodes: the counterpart's decoding of fields, which may be what decides.
    private func wire(_ decodes: Bool) async throws {
        var hark = Series()
        var peer = Series()
        try await scratch { folder in
            let counterpart = try Counterpart(scratch: folder, window: window, decodes: decodes)
            let h2load = try H2Load(sample, port: counterpart.port, scratch: folder)
            let tls = try TLSContext.client(caFile: counterpart.caFile)
            let endpoint = Endpoint(host: "127.0.0.1", port: counterpart.port)
            for _ in 0..<rounds {
                peer.add(try h2load.run(pushes))
                let loop = try EventLoop(name: "wire")
                let sender = WireSender(sample, pushes: pushes, port: counterpart.port, on: loop)
                try await hark.measure(pushes) { try await sender.run(to: endpoint, tls: tls) }
                loop.stop()
            }
        }
        say(
            """
            wire: 1 connection, 1,000 streams, \(grouped(Double(pushes))) pushes of \(SamplePush.bodyBytes) bytes, median of \(rounds), \(decodes ? "fields decoded" : "frames counted alone")
              hark    \(hark)
              h2load  \(peer)
              ratio   \(rounded(hark.rate / peer.rate))
            """)
    }

    // MARK: The whole way

    private func outbox() async throws {
        let sends = (0..<pushes).map { PushStage.Send($0, stamp: UInt64($0)) }
        var inStep = Series()
        var atOnce = Series()
        var peer = Series()
        var undecoded = Series()
        for _ in 0..<rounds {
            try await scratch { folder in
                let counterpart = try Counterpart(scratch: folder, window: window, decodes: false)
                undecoded.add(try H2Load(sample, port: counterpart.port, scratch: folder).run(pushes))
            }
            try await scratch { folder in
                let counterpart = try Counterpart(scratch: folder, window: window)
                peer.add(try H2Load(sample, port: counterpart.port, scratch: folder).run(pushes))
                let stage = try PushStage(scratch: folder, to: counterpart)
                try await inStep.measure(pushes) { try await send(sends, through: stage, ahead: 3000) }
                await stage.close()
            }
            try await scratch { folder in
                let counterpart = try Counterpart(scratch: folder, window: window)
                let stage = try PushStage(scratch: folder, to: counterpart)
                try await atOnce.measure(pushes) { try await send(sends, through: stage, ahead: .max) }
                await stage.close()
            }
        }
        say(
            """
            outbox: push.send → _push_queue → wire → sent recorded, \(grouped(Double(pushes))) pushes, median of \(rounds)
              hark, sent as fast as they are delivered  \(inStep)
              hark, sent all at once                    \(atOnce)
              h2load, 1 connection, 1,000 streams       \(peer)
              ratio   \(rounded(inStep.rate / peer.rate)), all at once \(rounded(atOnce.rate / peer.rate))
              h2load, its fields not decoded            \(undecoded)
              ratio   \(rounded(inStep.rate / undecoded.rate)), all at once \(rounded(atOnce.rate / undecoded.rate))
            """)
    }

    /// Some batches are on their way into the outbox side by side, as hooks run side by side.
    /// - Parameter ahead: how many pushes may be on their way out of it at most.
    private func send(_ sends: [PushStage.Send], through stage: PushStage, ahead: Int) async throws {
        stage.push.start()
        let (batch, atOnce) = (250, 2)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for start in Swift.stride(from: 0, to: sends.count, by: batch) {
                if start >= atOnce * batch { try await group.next() }
                while start - stage.push.counts.sent > ahead { try await Task.sleep(for: .milliseconds(1)) }
                group.addTask { try await stage.send(sends[start..<min(start + batch, sends.count)]) }
            }
            try await group.waitForAll()
        }
        try await stage.allSent(sends.count)
    }

    // MARK: A million rows

    private func backlog() async throws {
        try await scratch { folder in
            let counterpart = try Counterpart(scratch: folder, window: window, readsStamps: true)
            let stage = try PushStage(scratch: folder, to: counterpart)
            // Written in another order than that of due time.
            let block = 1000
            let blocks = (rows + block - 1) / block
            let stride = Self.stride(coprimeTo: blocks)
            let start = Int64(Date().timeIntervalSince1970 * 1000) - Int64(blocks)
            let filling = try await measured {
                for turn in 0..<blocks {
                    let number = turn * stride % blocks
                    let numbers = number * block..<min(rows, (number + 1) * block)
                    try await stage.send(
                        numbers.lazy.map { PushStage.Send($0, stamp: UInt64($0)) }, due: start + Int64(number))
                }
            }
            PeakMemory.forget()
            var marks: [Double] = []
            let clock = ContinuousClock()
            let began = clock.now
            stage.push.start()
            let share = max(1, min(100_000, rows / 2))
            for count in [share, rows - share, rows] {
                while stage.push.counts.sent < count { try await Task.sleep(for: .milliseconds(2)) }
                marks.append((clock.now - began) / .seconds(1))
            }
            let memory = PeakMemory.megabytes
            try await stage.allSent(rows)
            await stage.close()
            let displaced = counterpart.stop().map(\.displaced).max() ?? 0
            let (first, last) = (Double(share) / marks[0], Double(share) / (marks[2] - marks[1]))
            say(
                """
                backlog: \(grouped(Double(rows))) rows, queued at \(grouped(Double(rows) / filling)) a second, drained in order of due time
                  all                         \(grouped(Double(rows) / marks[2])) rows/s
                  the first \(grouped(Double(share)))           \(grouped(first)) rows/s
                  the last \(grouped(Double(share)))            \(grouped(last)) rows/s, \(rounded(last / first)) of the first's
                  most memory while draining  \(memory) MB
                  came to the wire behind a later one by at most \(grouped(Double(displaced))) places
                """)
        }
    }

    /// Steps of this size visit all of `count` places once.
    private static func stride(coprimeTo count: Int) -> Int {
        func divisor(_ a: Int, _ b: Int) -> Int { b == 0 ? a : divisor(b, a % b) }
        return (count * 5 / 8 + 1...count * 5 / 8 + count).first { divisor($0, count) == 1 } ?? 1
    }

    // MARK: Latency

    private func latency() async throws {
        try await scratch { folder in
            let counterpart = try Counterpart(scratch: folder, window: window, readsStamps: true)
            let stage = try PushStage(scratch: folder, to: counterpart)
            stage.push.start()
            // The first opens the connection; what is to be measured is a server that runs.
            try await stage.send([PushStage.Send(0, stamp: 0)])
            while stage.push.counts.sent < 1 { try await Task.sleep(for: .milliseconds(5)) }
            let count = seconds * 1000
            let start = machineNanoseconds()
            try await withThrowingTaskGroup { group in
                for number in 1...count {
                    let time = start + UInt64(number) * 1_000_000
                    let now = machineNanoseconds()
                    if time > now { try await Task.sleep(for: .nanoseconds(Int64(time - now)), tolerance: .zero) }
                    group.addTask { try await stage.send([PushStage.Send(number, stamp: machineNanoseconds())]) }
                }
                try await group.waitForAll()
            }
            let took = Double(machineNanoseconds() - start) / 1e9
            try await stage.allSent(count + 1)
            await stage.close()
            let report = counterpart.stop().max { $0.stamps < $1.stamps }
            func milliseconds(_ value: Int?) -> String { rounded(Double(value ?? 0) / 1000) }
            say(
                """
                latency: from push.send to the other process having read it, \(grouped(Double(count) / took)) pushes a second, \(report?.stamps ?? 0) pushes
                  p50 \(milliseconds(report?.p50)) ms   p99 \(milliseconds(report?.p99)) ms   max \(milliseconds(report?.max)) ms
                """)
        }
    }

    // MARK: A distant gateway

    private func delayed() async throws {
        let delay = 50
        let connections = 4
        let sends = (0..<pushes).map { PushStage.Send($0, stamp: UInt64($0)) }
        var hark = Series()
        var one = Series()
        var several = Series()
        var reports: [CounterpartReport] = []
        for _ in 0..<max(1, rounds / 2) {
            try await scratch { folder in
                let counterpart = try Counterpart(scratch: folder, delay: delay, window: window)
                let h2load = try H2Load(sample, port: counterpart.port, scratch: folder)
                one.add(try h2load.run(pushes))
                several.add(try h2load.run(pushes, connections: connections))
                _ = counterpart.reports(1 + connections)
                let stage = try PushStage(scratch: folder, to: counterpart)
                try await hark.measure(pushes) { try await send(sends, through: stage, ahead: 10_000) }
                await stage.close()
                reports = counterpart.stop()
            }
        }
        say(
            """
            delay: answers come after \(delay) ms, \(grouped(Double(pushes))) pushes through the outbox, median of \(max(1, rounds / 2))
              hark, \(reports.count) connections, \(reports.map { "\($0.streams)" }.joined(separator: " + ")) streams   \(hark)
              h2load, 1 connection, 1,000 streams     \(one)
              h2load, \(connections) connections, 4,000 streams    \(several)
              ratio   \(rounded(hark.rate / one.rate)) of one connection's, \(rounded(hark.rate / several.rate)) of four's
            """)
    }
}
