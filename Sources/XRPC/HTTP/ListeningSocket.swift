import Glibc

/// A TCP socket that waits for clients. Closed by whoever it is handed to.
struct ListeningSocket {
    let descriptor: Int32
    /// The port that it has got, where 0 was asked for.
    let port: UInt16

    /// - Parameter place: `host:port`, `[v6]:port`.
    init(_ place: String) throws(ServerError) {
        guard let (host, port) = Self.split(place) else { throw ServerError("\"\(place)\" is not host:port") }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, port, &hints, &list)
        guard code == 0, let first = list else {
            throw ServerError("cannot listen on \(place): \(String(cString: gai_strerror(code)))")
        }
        defer { freeaddrinfo(list) }
        try self.init(first.pointee, place)
    }

    private init(_ info: addrinfo, _ place: String) throws(ServerError) {
        let kind = info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(info.ai_family, kind, info.ai_protocol)
        guard descriptor >= 0 else { throw Self.failure(place) }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, info.ai_addr, info.ai_addrlen) == 0, listen(descriptor, 4096) == 0,
            let port = Self.port(of: descriptor)
        else {
            let failure = Self.failure(place)
            close(descriptor)
            throw failure
        }
        self.descriptor = descriptor
        self.port = port
    }

    private static func failure(_ place: String) -> ServerError {
        ServerError("cannot listen on \(place): \(String(cString: strerror(errno)))")
    }

    private static func port(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        // The port lies at the same place in sockaddr_in and sockaddr_in6.
        let port = withUnsafeBytes(of: storage) { $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self) }
        return code == 0 ? UInt16(bigEndian: port) : nil
    }

    private static func split(_ place: String) -> (host: String, port: String)? {
        guard let colon = place.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let port = String(place[place.utf8.index(after: colon)...])
        var host = place[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, UInt16(port) != nil else { return nil }
        return (String(host), port)
    }
}

/// Why the server could not start.
public struct ServerError: Error, Hashable, Sendable, CustomStringConvertible {
    public var message: String

    public init(_ message: String) { self.message = message }

    public var description: String { message }
}
