import Foundation
import Glibc

/// An answer as it came over the wire.
struct WireAnswer: Sendable {
    var status: Int
    var headers: [String: String]
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as a JSON object; empty when it is none.
    var json: [String: any Sendable] {
        (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: any Sendable] ?? [:]
    }
    var error: String? { json["error"] as? String }
}

struct WireError: Error, CustomStringConvertible {
    var description: String
}

/// A connection that sends exactly the bytes that a test wants. Blocks on a queue of its own, never on a task's thread.
final class WireClient: @unchecked Sendable {
    // Confined to its queue.
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private let queue = DispatchQueue(label: "wire-client")

    /// Connects to the machine itself. Reads give up after `timeout` seconds.
    init(port: UInt16, timeout: Int = 60) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // An object that throws here goes as any other: it closes its socket.
        guard code == 0 else { throw WireError(description: "connect: \(String(cString: strerror(errno)))") }
        var time = timeval(tv_sec: timeout, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    private func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }

    /// False once the other side has closed.
    @discardableResult
    func send(_ bytes: [UInt8]) async throws -> Bool {
        try await blocking { [self] in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    @discardableResult
    func send(_ text: String) async throws -> Bool { try await send([UInt8](text.utf8)) }

    /// The next answer.
    func answer(toHead: Bool = false) async throws -> WireAnswer {
        try await blocking { [self] in
            while true {
                if let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) {
                    return try readAnswer(headEnd: end.lowerBound, bodyStart: end.upperBound, hasBody: !toHead)
                }
                try fill()
            }
        }
    }

    /// True when the other side closes the connection, whatever it still sends.
    func isClosed() async throws -> Bool {
        try await blocking { [self] in
            var chunk = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(descriptor, &chunk, chunk.count, 0)
                if count == 0 || count < 0 && errno == ECONNRESET { return true }
                if count < 0 { return false }
            }
        }
    }

    private func fill() throws {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        guard count > 0 else { throw WireError(description: count == 0 ? "closed" : String(cString: strerror(errno))) }
        buffer += chunk[..<count]
    }

    private func readAnswer(headEnd: Int, bodyStart: Int, hasBody: Bool) throws -> WireAnswer {
        let lines = String(decoding: buffer[..<headEnd], as: UTF8.self).components(separatedBy: "\r\n")
        let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        let length = hasBody ? headers["content-length"].flatMap { Int($0) } ?? 0 : 0
        while buffer.count < bodyStart + length { try fill() }
        let body = Array(buffer[bodyStart..<bodyStart + length])
        buffer.removeFirst(bodyStart + length)
        return WireAnswer(status: status, headers: headers, body: body)
    }
}

extension WireClient {
    /// One request on a connection of its own.
    static func ask(
        _ port: UInt16, _ verb: String, _ path: String, headers: KeyValuePairs<String, String> = [:],
        body: [UInt8]? = nil
    ) async throws -> WireAnswer {
        let client = try WireClient(port: port)
        return try await client.ask(verb, path, headers: headers, body: body)
    }

    func ask(
        _ verb: String, _ path: String, headers: KeyValuePairs<String, String> = [:], body: [UInt8]? = nil
    ) async throws -> WireAnswer {
        try await ask(verb, path, list: headers.map { ($0.key, $0.value) }, body: body)
    }

    func ask(_ verb: String, _ path: String, list headers: [(String, String)], body: [UInt8]? = nil) async throws
        -> WireAnswer
    {
        var head = "\(verb) \(path) HTTP/1.1\r\nHost: localhost\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if let body { head += "Content-Length: \(body.count)\r\n" }
        try await send([UInt8]((head + "\r\n").utf8) + (body ?? []))
        return try await answer(toHead: verb == "HEAD")
    }
}
