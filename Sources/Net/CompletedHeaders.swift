/// A HEADERS frame of nghttp2's with fields added that were encoded outside of it.
///
/// nghttp2 keeps the streams' states and HPACK's table, and so encodes what many requests share; literals need neither,
/// and are merely put into the block: `:path` in front, the others behind. Source: RFC 9113 §6.2, §6.10.
struct CompletedHeaders {
    private static let headBytes = 9
    private static let headersType: UInt8 = 1
    private static let continuationType: UInt8 = 9
    private static let endHeaders: UInt8 = 4

    /// nghttp2's frame, its block of fields whole.
    private let frame: UnsafeRawBufferPointer

    /// nil when `frame` is anything else.
    init?(_ frame: UnsafeRawBufferPointer) {
        guard frame.count >= Self.headBytes, frame[3] == Self.headersType, frame[4] & Self.endHeaders != 0 else {
            return nil
        }
        self.frame = frame
    }

    var stream: Int32 { Int32(bitPattern: UInt32(bigEndian: frame.loadUnaligned(fromByteOffset: 5, as: UInt32.self))) }

    /// Appends the frame, or several where one may not be longer than `limit`.
    func write(shared: [UInt8], own: FieldLiterals, limit: Int, to output: inout ByteBuffer) {
        let count = frame.count - Self.headBytes + shared.count + own.bytes.count
        if count <= limit {
            appendHead(count, Self.headersType, flags: frame[4], to: &output)
            appendBlock(shared, own, to: &output)
            return
        }
        var block = ByteBuffer(capacity: count)
        appendBlock(shared, own, to: &block)
        var type = Self.headersType
        var flags = frame[4] & ~Self.endHeaders
        while !block.isEmpty {
            let length = min(block.count, limit)
            if length == block.count { flags |= Self.endHeaders }
            appendHead(length, type, flags: flags, to: &output)
            output.append(block.bytes.prefix(length))
            block.consume(length)
            (type, flags) = (Self.continuationType, 0)
        }
    }

    private func appendHead(_ length: Int, _ type: UInt8, flags: UInt8, to output: inout ByteBuffer) {
        let head = output.reserve(Self.headBytes)
        let number = UInt32(truncatingIfNeeded: length) << 8 | UInt32(type)
        head.storeBytes(of: number.bigEndian, as: UInt32.self)
        head.storeBytes(of: flags, toByteOffset: 4, as: UInt8.self)
        head.storeBytes(of: UInt32(bitPattern: stream).bigEndian, toByteOffset: 5, as: UInt32.self)
        output.commit(Self.headBytes)
    }

    /// Changes of the table's size stand before all fields (RFC 7541 §4.2), pseudo-fields before the others.
    private func appendBlock(_ shared: [UInt8], _ own: FieldLiterals, to output: inout ByteBuffer) {
        let fields = Self.headBytes + sizeUpdateBytes
        output.append(frame[Self.headBytes..<fields])
        own.bytes.withUnsafeBytes { output.append($0[..<own.pathEnd]) }
        output.append(frame[fields...])
        shared.withUnsafeBytes { output.append($0[...]) }
        own.bytes.withUnsafeBytes { output.append($0[own.pathEnd...]) }
    }

    /// Bytes of the block's changes of the table's size: `001`, and an integer with a prefix of 5 bits (RFC 7541 §6.3).
    private var sizeUpdateBytes: Int {
        var end = Self.headBytes
        while end < frame.count, frame[end] >> 5 == 1 {
            var isLast = frame[end] & 0x1f != 0x1f
            end += 1
            while !isLast, end < frame.count {
                isLast = frame[end] & 0x80 == 0
                end += 1
            }
        }
        return end - Self.headBytes
    }
}
