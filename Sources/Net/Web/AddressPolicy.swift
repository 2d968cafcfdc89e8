import Glibc

/// Which addresses an outgoing request may connect to.
///
/// A host name that strangers choose must not lead to a service that only this machine or its network can reach.
public enum AddressPolicy: Sendable {
    /// Any: for hosts that the operator has named.
    case any
    /// Those of the public internet alone.
    case publicOnly

    /// Whether the policy lets a socket connect to `address`, an IPv4 or IPv6 one.
    func allows(_ address: UnsafePointer<sockaddr>) -> Bool {
        switch self {
        case .any: true
        case .publicOnly: Self.isPublic(address)
        }
    }

    private static func isPublic(_ address: UnsafePointer<sockaddr>) -> Bool {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let bytes = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_addr.s_addr }
            return isPublic(v4: UInt32(bigEndian: bytes))
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr) { isPublic(v6: Array($0)) }
            }
        default: return false
        }
    }

    /// IPv4 networks that are not of the public internet: first address and length. Source: RFC 6890, and IANA's
    /// registry of special-purpose addresses; multicast and what lies above it too.
    private static let special: [(network: UInt32, length: UInt32)] = [
        (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16), (0xAC10_0000, 12),
        (0xC000_0000, 24), (0xC000_0200, 24), (0xC058_6300, 24), (0xC0A8_0000, 16), (0xC612_0000, 15),
        (0xC633_6400, 24), (0xCB00_7100, 24), (0xE000_0000, 3),
    ]

    static func isPublic(v4 address: UInt32) -> Bool {
        !special.contains { (address ^ $0.network) >> (32 - $0.length) == 0 }
    }

    /// - Parameter address: 16 bytes.
    static func isPublic(v6 address: [UInt8]) -> Bool {
        guard address.count == 16 else { return false }
        let v4 = address[12...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        // IPv4 inside IPv6: ::ffff:0:0/96, and 64:ff9b::/96 behind a NAT64.
        if address[..<12].elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) { return isPublic(v4: v4) }
        if address[..<12].elementsEqual([0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) { return isPublic(v4: v4) }
        // Global unicast is 2000::/3, less 2001::/23 and 2002::/16 (tunnels), 2001:db8::/32 and 3fff::/20 (documents).
        guard address[0] & 0xE0 == 0x20 else { return false }
        let head = UInt32(address[0]) << 24 | UInt32(address[1]) << 16 | UInt32(address[2]) << 8 | UInt32(address[3])
        return head >> 9 != 0x2001_0000 >> 9 && head >> 16 != 0x2002 && head != 0x2001_0DB8 && head >> 12 != 0x3FFF0
    }
}
