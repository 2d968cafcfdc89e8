import Foundation
import Net
import Synchronization

/// The counterpart's process, as the benchmark sees it.
final class Counterpart {
    let port: UInt16
    let caFile: String
    private let process = Process()
    private let input = Pipe()
    private let lines: LineReader

    /// - Parameter scratch: a folder for its certificate.
    init(scratch: String, delay: Int = 0, window: Int, decodes: Bool = true, readsStamps: Bool = false) throws {
        let certificate = try SelfSignedCertificate()
        caFile = scratch + "/ca.pem"
        for (name, text) in [
            ("ca.pem", certificate.caPEM), ("cert.pem", certificate.certificatePEM), ("key.pem", certificate.keyPEM),
        ] { try text.write(toFile: "\(scratch)/\(name)", atomically: false, encoding: .utf8) }
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            PushCounterpart.command, "--certificate", scratch + "/cert.pem", "--key", scratch + "/key.pem",
            "--delay", "\(delay)", "--window", "\(window)", "--decodes", decodes ? "yes" : "no", "--stamps",
            readsStamps ? "yes" : "no",
        ]
        process.standardInput = input
        process.standardOutput = output
        lines = LineReader(output.fileHandleForReading)
        Processors.pin(to: Processors.counterpart)
        defer { Processors.pin(to: Processors.sender) }
        try process.run()
        guard let first = lines.next(), first.hasPrefix("port "), let port = UInt16(first.dropFirst(5)) else {
            throw BenchmarkError("the counterpart does not start")
        }
        self.port = port
    }

    deinit { _ = stop() }

    /// What it says of the connections that have ended since the last question; waits for one at least.
    func reports(_ count: Int = 1) -> [CounterpartReport] {
        var reports: [CounterpartReport] = []
        while reports.count < count, let line = lines.next() {
            if let report = CounterpartReport(line) { reports.append(report) }
        }
        return reports
    }

    /// Ends it, and says what is left to say.
    func stop() -> [CounterpartReport] {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
        return reports(.max)
    }
}

/// A connection that has ended.
struct CounterpartReport {
    var requests = 0
    /// Open at once at most.
    var streams = 0
    /// Of the pushes that carried a stamp; times in microseconds.
    var stamps = 0
    var p50 = 0
    var p99 = 0
    var max = 0
    /// How many places a push came behind a later one, at most.
    var displaced = 0

    init?(_ line: String) {
        let words = line.split(separator: " ")
        guard words.first == "connection" else { return nil }
        var index = 1
        while index + 1 < words.count, let number = Int(words[index + 1]) {
            switch words[index] {
            case "requests": requests = number
            case "streams": streams = number
            case "stamps": stamps = number
            case "p50": p50 = number
            case "p99": p99 = number
            case "max": max = number
            case "displaced": displaced = number
            default: break
            }
            index += 2
        }
    }
}

/// A pipe's lines, one after the other.
final class LineReader {
    private let handle: FileHandle
    private var rest: [UInt8] = []

    init(_ handle: FileHandle) { self.handle = handle }

    func next() -> String? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest.removeSubrange(...end) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            let more = handle.availableData
            if more.isEmpty { return nil }
            rest += more
        }
    }
}
