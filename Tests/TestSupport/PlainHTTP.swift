import Foundation

/// One HTTP request to a server on this machine, on a connection of its own. For servers whose answers Foundation's
/// client does not take.
enum PlainHTTP {
    struct Answer: Sendable {
        var status: Int
        var body: Data
    }

    /// Waits on a thread that may.
    static func ask(_ verb: String, port: UInt16, path: String, body: Data? = nil) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try exchange(verb, port, path, body ?? Data()) })
            }
        }
    }

    private static func exchange(_ verb: String, _ port: UInt16, _ path: String, _ body: Data) throws -> Answer {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let head = """
            \(verb) \(path) HTTP/1.1\r\nHost: localhost:\(port)\r\nContent-Type: application/json\r
            Content-Length: \(body.count)\r\nConnection: close\r\n\r\n
            """
        try send(Data(head.utf8) + body, to: descriptor)
        return try answer(from: descriptor)
    }

    private static func send(_ bytes: Data, to descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            rest = rest.dropFirst(count)
        }
    }

    /// A head with a `Content-Length`, and a body of as many bytes.
    private static func answer(from descriptor: Int32) throws -> Answer {
        var bytes = Data()
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let end = bytes.firstRange(of: Data("\r\n\r\n".utf8)) {
                let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
                let length = head.firstMatch(of: /(?i)content-length: *(\d+)/).flatMap { Int($0.1) } ?? 0
                if bytes.count >= end.upperBound + length {
                    let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
                    return Answer(status: status, body: Data(bytes[end.upperBound..<end.upperBound + length]))
                }
            }
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { throw POSIXError(.ECONNRESET) }
            bytes += chunk[..<count]
        }
    }
}
