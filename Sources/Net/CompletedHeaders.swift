/// A HEADERS frame of nghttp2's, made without any field, with fields put in that were encoded outside of it.
///
/// nghttp2 keeps the streams' states, and knows of the table's size; what the table holds is `HeaderTable`'s.
/// Source: RFC 9113 §6.2, §6.10.
struct CompletedHeaders {
    private static let headBytes = 9
    private static let headersType: UInt8 = 1
    private static let continuationType: UInt8 = 9
    private static let endHeaders: UInt8 = 4

    /// nghttp2's frame. In its block are changes of the table's size alone.
    private let frame: UnsafeRawBufferPointer

    /// nil when `frame` is anything else.
    init?(_ frame: UnsafeRawBufferPointer) {
        guard Self.isHeaders(frame), frame[4] & Self.endHeaders != 0 else { return nil }
        self.frame = frame
    }

    var stream: Int32 { Int32(bitPattern: UInt32(bigEndian: frame.loadUnaligned(fromByteOffset: 5, as: UInt32.self))) }

    private var updates: Slice<UnsafeRawBufferPointer> { frame[Self.headBytes...] }

    private static func isHeaders(_ frame: UnsafeRawBufferPointer) -> Bool {
        frame.count >= headBytes && frame[3] == headersType
    }

    /// The sizes that the peer's table is to have from here on, one after the other, in front of the fields of any HEADERS
    /// of nghttp2's (RFC 7541 §6.3).
    static func tableSizes(in frame: UnsafeRawBufferPointer) -> [Int] {
        guard isHeaders(frame) else { return [] }
        var rest = frame[headBytes...]
        var sizes: [Int] = []
        while let first = rest.first, first >> 5 == 1, let size = HPACK.number(prefix: 5, from: &rest) {
            sizes.append(size)
        }
        return sizes
    }

    /// Appends the frame, or several where one may not be longer than `limit`.
    /// - Parameters:
    ///   - indexed: fields as the table has them, pseudo-fields first.
    ///   - literals: further fields that need no table.
    func write(
        indexed: [UInt8], literals: [UInt8], own: borrowing FieldLiterals, limit: Int, to output: inout ByteBuffer
    ) {
        let count = updates.count + indexed.count + literals.count + own.bytes.count
        if count <= limit {
            appendHead(count, Self.headersType, flags: frame[4], to: &output)
            appendBlock(indexed, literals, own, to: &output)
            return
        }
        var block = ByteBuffer(capacity: count)
        appendBlock(indexed, literals, own, to: &block)
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
    private func appendBlock(
        _ indexed: [UInt8], _ literals: [UInt8], _ own: borrowing FieldLiterals, to output: inout ByteBuffer
    ) {
        output.append(updates)
        own.bytes.withUnsafeBytes { output.append($0[..<own.pathEnd]) }
        indexed.withUnsafeBytes { output.append($0[...]) }
        literals.withUnsafeBytes { output.append($0[...]) }
        own.bytes.withUnsafeBytes { output.append($0[own.pathEnd...]) }
    }
}
