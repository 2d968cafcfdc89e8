import Foundation

/// The load generator wrk, which sends each request with the next token of a file.
struct Wrk {
    struct Run {
        /// Answers a second.
        var rate: Double
        /// As wrk writes it: `12.34ms`.
        var p99: String
        /// Answers other than 2xx, and connections that failed.
        var errors: Int
        var text: String
    }

    let tokensFile: String
    private let path: String
    private let script: String
    private let arguments: [String]

    /// Each of wrk's two threads takes every other token, and ends when there are no more, or begins again.
    private static let lua = """
        local threads = 0
        function setup(thread)
            thread:set("first", threads)
            threads = threads + 1
        end
        function init(args)
            tokens = {}
            local number = 0
            for line in io.lines(args[1]) do
                if number % 2 == first then tokens[#tokens + 1] = line end
                number = number + 1
            end
            following = 1
            again = args[2] == "again"
        end
        function request()
            if again and following > #tokens then following = 1 end
            local token = tokens[following]
            if not token then
                wrk.thread:stop()
                token = ""
            end
            following = following + 1
            local device = string.format("%064x", (following % 5) * 2 + first)
            local body = '{"token":"' .. device .. '","platform":"apns","label":"wrk"}'
            return wrk.format("POST", nil, {
                ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. token }, body)
        end
        """

    /// - Parameter scratch: a folder for the script and the tokens.
    init(scratch: String, seconds: Int, connections: Int) throws {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        guard let found = folders.map({ "\($0)/wrk" }).first(where: FileManager.default.isExecutableFile(atPath:))
        else {
            throw BenchmarkError("wrk is not here: install Debian's package wrk (apt install wrk)")
        }
        path = found
        tokensFile = scratch + "/tokens"
        script = scratch + "/wrk.lua"
        arguments = ["-t", "2", "-c", "\(connections)", "-d", "\(seconds)s", "--latency", "-s", script]
        try Self.lua.write(toFile: script, atomically: false, encoding: .utf8)
    }

    func run(port: UInt16, path place: String, usingTokensAgain: Bool = false) throws -> Run {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments =
            arguments + ["http://127.0.0.1:\(port)\(place)", "--", tokensFile] + (usingTokensAgain ? ["again"] : [])
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        func words(_ label: String) -> [Substring]? {
            text.split(separator: "\n").map { $0.split(separator: " ") }.first { $0.first.map(String.init) == label }
        }
        // "Requests/sec:  40123.45", "99%    3.21ms", "Non-2xx or 3xx responses: 5", "Socket errors: connect 0, read 1, …"
        guard let rate = words("Requests/sec:")?.last.flatMap({ Double($0) }), let p99 = words("99%")?.last else {
            throw BenchmarkError("wrk said nothing of use:\n\(text)")
        }
        let refused = words("Non-2xx")?.last.flatMap { Int($0) } ?? 0
        let broken = words("Socket")?.compactMap { Int($0.prefix { $0.isNumber }) }.reduce(0, +) ?? 0
        return Run(rate: rate, p99: String(p99), errors: refused + broken, text: text)
    }
}
