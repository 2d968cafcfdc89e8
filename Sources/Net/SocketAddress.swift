import Glibc

/// An IP address and a port, as the system's calls want it.
struct SocketAddress: @unchecked Sendable {
    // Sendable: a plain value; only the C struct that it holds is not declared so.
    private var storage = sockaddr_storage()
    private let length: socklen_t

    init?(_ info: addrinfo) {
        guard let address = info.ai_addr, Int(info.ai_addrlen) <= MemoryLayout<sockaddr_storage>.size else {
            return nil
        }
        length = info.ai_addrlen
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(info.ai_addrlen)))
        }
    }

    /// The address that a bound socket has got.
    init(boundTo descriptor: Int32) throws {
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var storage = sockaddr_storage()
        try withUnsafeMutablePointer(to: &storage) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = try SystemError.check("getsockname") { getsockname(descriptor, address, &length) }
            }
        }
        self.storage = storage
        self.length = length
    }

    var family: Int32 { Int32(storage.ss_family) }

    var port: UInt16 {
        withUnsafeBytes(of: storage) { bytes in
            // The port lies at the same place in sockaddr_in and sockaddr_in6.
            UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
    }

    func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Result) rethrows -> Result {
        try withUnsafePointer(to: storage) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { try body($0, length) }
        }
    }
}

/// The calls on stream sockets, non-blocking all of them.
enum Socket {
    static func make(family: Int32) throws -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        return try SystemError.check("socket") { socket(family, kind, 0) }
    }

    /// A socket that listens on the first address of `endpoint` that can be bound.
    static func listening(on endpoint: Endpoint) throws -> Int32 {
        var last: any Error = ConnectionError.unresolved(host: endpoint.host, reason: "no address")
        for address in try Resolver.lookUp(endpoint, passive: true) {
            let descriptor = try make(family: address.family)
            do {
                set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
                try address.withSockaddr { address, length in
                    _ = try SystemError.check("bind \(endpoint)") { bind(descriptor, address, length) }
                }
                try SystemError.check("listen \(endpoint)") { listen(descriptor, 1024) }
                return descriptor
            } catch {
                Glibc.close(descriptor)
                last = error
            }
        }
        throw last
    }

    static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Small frames leave at once; the connection gathers them itself.
    static func setNoDelay(_ descriptor: Int32) { set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1) }

    /// The error that a socket has met in the background, 0 for none.
    static func pendingError(_ descriptor: Int32) -> Int32 {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 ? code : errno
    }
}
