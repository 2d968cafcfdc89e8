import Glibc

/// Host names to addresses, by the system's own rules, asked afresh every time.
enum Resolver {
    /// Looks up on a thread of its own, since the system's call blocks, and hands the result to `completion` on `loop`.
    static func resolve(
        _ endpoint: Endpoint, on loop: EventLoop,
        completion: @escaping @Sendable (Result<[SocketAddress], any Error>) -> Void
    ) {
        do {
            let thread = try OSThread.start(name: "resolve") {
                let result = Result { try lookUp(endpoint) }
                loop.execute { completion(result) }
            }
            pthread_detach(thread)
        } catch {
            loop.execute { completion(.failure(error)) }
        }
    }

    /// Looks up and blocks meanwhile. Addresses come in the system's order of preference (RFC 6724), IPv6 and IPv4
    /// alternating (RFC 8305, section 4). `passive` asks for addresses to listen on.
    static func lookUp(_ endpoint: Endpoint, passive: Bool = false) throws -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(endpoint.host, String(endpoint.port), &hints, &list)
        let systemCode = errno
        guard code == 0 else {
            let reason = code == EAI_SYSTEM ? SystemError.text(systemCode) : String(cString: gai_strerror(code))
            throw ConnectionError.unresolved(host: endpoint.host, reason: reason)
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let info = next {
            if let address = SocketAddress(info.pointee) { addresses.append(address) }
            next = info.pointee.ai_next
        }
        return alternating(addresses)
    }

    private static func alternating(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let first = addresses.first else { return [] }
        let preferred = addresses.filter { $0.family == first.family }
        let others = addresses.filter { $0.family != first.family }
        var result: [SocketAddress] = []
        for index in 0..<max(preferred.count, others.count) {
            if index < preferred.count { result.append(preferred[index]) }
            if index < others.count { result.append(others[index]) }
        }
        return result
    }
}
