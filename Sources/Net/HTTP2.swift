import CNghttp2
import Glibc

/// Words and numbers of HTTP/2 (RFC 9113) that client and server share.
enum HTTP2 {
    static let noError: UInt32 = 0
    static let refusedStream: UInt32 = 7
    static let cancel: UInt32 = 8

    /// What is gathered for one write: some TLS records, for a write has its price, and no more, so that the peer can begin
    /// while the next is made. A frame may overshoot it.
    static let gatherLimit = 48 * 1024
    /// How much of a message's headers is taken, each field counted with 32 bytes more (RFC 9113, section 6.5.2).
    static let maximumHeaderBytes = 64 * 1024

    /// The RFC's name of an error code.
    static func name(ofError code: UInt32) -> String { String(cString: nghttp2_http2_strerror(code)) }

    /// What one of nghttp2's functions answered.
    static func text(_ code: Int) -> String { String(cString: nghttp2_strerror(Int32(truncatingIfNeeded: code))) }

    /// `:status` as three digits; nil for anything else.
    static func status(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard bytes.count == 3 else { return nil }
        var status = 0
        for byte in bytes {
            guard (0x30...0x39).contains(byte) else { return nil }
            status = status * 10 + Int(byte - 0x30)
        }
        return status
    }
}

/// Header fields laid out as nghttp2 wants them, in memory that is used again for the next message.
///
/// The pointers it yields are valid until the next `begin`; nghttp2 copies what they point to.
struct HeaderBlock: ~Copyable {
    private var fields = UnsafeMutableBufferPointer<nghttp2_nv>.allocate(capacity: 32)
    private var bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 2048)
    private(set) var count = 0
    private var used = 0

    deinit {
        fields.deallocate()
        bytes.deallocate()
    }

    var base: UnsafeMutablePointer<nghttp2_nv>? { fields.baseAddress }

    /// Empties the block and makes room, so that nothing moves while it is filled.
    mutating func begin(fields fieldCount: Int, bytes byteCount: Int) {
        count = 0
        used = 0
        if fieldCount > fields.count {
            fields.deallocate()
            fields = .allocate(capacity: fieldCount * 2)
        }
        if byteCount > bytes.count {
            bytes.deallocate()
            bytes = .allocate(capacity: byteCount * 2)
        }
    }

    /// - Parameter neverIndexed: so is each of them, whatever it says itself.
    mutating func append(_ list: [HeaderField], neverIndexed: Bool = false) {
        for field in list {
            append(name: field.name, value: field.value, neverIndexed: neverIndexed || field.neverIndexed)
        }
    }

    mutating func append(name: [UInt8], value: [UInt8], neverIndexed: Bool) {
        let flags = UInt8(neverIndexed ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : NGHTTP2_NV_FLAG_NONE.rawValue)
        fields[count] = nghttp2_nv(
            name: copy(name), value: copy(value), namelen: name.count, valuelen: value.count, flags: flags)
        count += 1
    }

    /// Copies bytes that a field is to point to.
    private mutating func copy(_ source: [UInt8]) -> UnsafeMutablePointer<UInt8>? {
        guard let base = bytes.baseAddress else { return nil }
        let start = base + used
        source.withUnsafeBufferPointer { source in
            if let first = source.baseAddress { start.update(from: first, count: source.count) }
        }
        used += source.count
        return start
    }

    /// How many bytes `append` of these fields needs.
    static func size(_ list: [HeaderField]) -> Int { list.reduce(0) { $0 + $1.name.count + $1.value.count } }
}

/// The fields of the last message, by position: peers say much the same again and again, and what is the same is shared
/// instead of being allocated anew.
struct FieldMemory {
    private var last: [HeaderField] = []

    /// The field at `position` of the present message.
    mutating func field(
        at position: Int, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>
    ) -> HeaderField {
        guard position < last.count else {
            let field = HeaderField(name: Array(name), value: Array(value))
            // Long messages are rare, and memory is better spent elsewhere.
            if position == last.count, position < 32 { last.append(field) }
            return field
        }
        if !FieldMemory.equal(last[position].name, name) { last[position].name = Array(name) }
        if !FieldMemory.equal(last[position].value, value) { last[position].value = Array(value) }
        return last[position]
    }

    private static func equal(_ array: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard array.count == bytes.count, let other = bytes.baseAddress else { return array.isEmpty && bytes.isEmpty }
        return array.withUnsafeBufferPointer { memcmp($0.baseAddress ?? other, other, bytes.count) == 0 }
    }
}
