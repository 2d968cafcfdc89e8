import Glibc

/// Where a request comes from, as far as limits are concerned.
public struct ClientAddress: Sendable, Hashable {
    /// An IPv4 address, or the first 64 bits of an IPv6 address: what one customer is given.
    private var network: UInt64
    private var isIPv6: Bool
    /// True for the machine itself, where a reverse proxy lives.
    public let isLoopback: Bool

    /// Requests that came from nowhere, as in tests.
    public static let unknown = ClientAddress(network: 0, isIPv6: false, isLoopback: false)

    private init(network: UInt64, isIPv6: Bool, isLoopback: Bool) {
        self.network = network
        self.isIPv6 = isIPv6
        self.isLoopback = isLoopback
    }

    private init(v4 address: UInt32) {
        self.init(network: UInt64(address), isIPv6: false, isLoopback: address >> 24 == 127)
    }

    private init(v6 bytes: UnsafeRawBufferPointer) {
        let high = bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = bytes[8..<16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        if high == 0, low >> 32 == 0xFFFF {
            self.init(v4: UInt32(truncatingIfNeeded: low))
        } else {
            self.init(network: high, isIPv6: true, isLoopback: high == 0 && low == 1)
        }
    }

    init(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let v4 = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_addr.s_addr }
            self.init(v4: UInt32(bigEndian: v4))
        case AF_INET6:
            self = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr) { ClientAddress(v6: $0) }
            }
        default: self = .unknown
        }
    }

    /// From text, as proxies write it: an IPv4 or IPv6 address, nil for anything else.
    init?(_ text: some StringProtocol) {
        let text = String(text)
        var (v4, v6) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(v4: UInt32(bigEndian: v4.s_addr))
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self = withUnsafeBytes(of: v6) { ClientAddress(v6: $0) }
        } else {
            return nil
        }
    }
}
