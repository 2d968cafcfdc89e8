import CNghttp2

/// Request headers that many requests share, laid out once; each request has fields of its own besides, `:path` first
/// (`FieldLiterals`).
///
/// Sendable because its memory is never written after `init`.
public final class PreparedHeaders: @unchecked Sendable {
    /// Those that HPACK's table may hold, for nghttp2 to encode.
    let fields: UnsafeMutableBufferPointer<nghttp2_nv>
    /// The others, encoded.
    let literals: [UInt8]
    private let bytes: UnsafeMutableBufferPointer<UInt8>

    /// `fields` in the order to send, the pseudo-headers first, `:path` left out. Those that are never indexed come last.
    public init(_ fields: [HeaderField]) {
        var literals = FieldLiterals()
        for field in fields where field.neverIndexed { literals.append(field) }
        self.literals = literals.bytes
        let indexed = fields.filter { !$0.neverIndexed }
        bytes = .allocate(capacity: max(1, HeaderBlock.size(indexed)))
        self.fields = .allocate(capacity: indexed.count)
        var used = 0
        for (index, field) in indexed.enumerated() {
            let name = bytes.baseAddress.map { $0 + used }
            for byte in field.name + field.value {
                bytes.initializeElement(at: used, to: byte)
                used += 1
            }
            let flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue
            self.fields.initializeElement(
                at: index,
                to: nghttp2_nv(
                    name: name, value: name.map { $0 + field.name.count }, namelen: field.name.count,
                    valuelen: field.value.count, flags: UInt8(flags)))
        }
    }

    deinit {
        fields.deallocate()
        bytes.deallocate()
    }
}
