import Testing

@testable import Net

/// Which addresses a stranger's domain may lead to.
@Suite struct AddressPolicyTests {
    private func v4(_ text: String) -> UInt32 {
        text.split(separator: ".").reduce(0) { $0 << 8 | (UInt32($1) ?? 0) }
    }

    @Test(arguments: [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.255", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1",
        "255.255.255.255",
    ])
    func refusesSpecial(address: String) { #expect(!AddressPolicy.isPublic(v4: v4(address))) }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0", "192.167.0.1", "223.1.1.1",
    ])
    func letsPublicPass(address: String) { #expect(AddressPolicy.isPublic(v4: v4(address))) }

    @Test func v6() {
        func bytes(_ head: [UInt8], _ tail: [UInt8]) -> [UInt8] {
            head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
        }
        #expect(AddressPolicy.isPublic(v6: bytes([0x26, 0x06, 0x47, 0], [1])))
        for address in [
            bytes([], []), bytes([], [1]), bytes([0xFE, 0x80], [1]), bytes([0xFC], [1]), bytes([0xFD], [1]),
            bytes([0xFF, 0x02], [1]), bytes([0x20, 0x01, 0x0D, 0xB8], [1]), bytes([0x20, 0x02], [1]),
            bytes([], [0xFF, 0xFF, 127, 0, 0, 1]), bytes([0, 0x64, 0xFF, 0x9B], [10, 0, 0, 1]),
            bytes([], [127, 0, 0, 1]),
        ] { #expect(!AddressPolicy.isPublic(v6: address)) }
        #expect(AddressPolicy.isPublic(v6: bytes([], [0xFF, 0xFF, 1, 1, 1, 1])))
    }
}
