import CNghttp2

/// Request headers that many requests share, laid out once; each request has its own `:path`, and further fields behind them.
///
/// Sendable because its memory is never written after `init`.
public final class PreparedHeaders: @unchecked Sendable {
    let fields: UnsafeMutableBufferPointer<nghttp2_nv>
    /// Where `:path` stands in `fields`.
    let pathIndex: Int
    private let bytes: UnsafeMutableBufferPointer<UInt8>

    /// `fields` in the order to send, the pseudo-headers first, `:path` left out: it goes behind `:method`.
    public init(_ fields: [HeaderField]) {
        let method = fields.firstIndex { $0.name.elementsEqual(":method".utf8) }
        let pathIndex = method.map { $0 + 1 } ?? 0
        var all = fields
        all.insert(HeaderField(":path", "", neverIndexed: true), at: pathIndex)

        bytes = .allocate(capacity: max(1, HeaderBlock.size(all)))
        self.fields = .allocate(capacity: all.count)
        self.pathIndex = pathIndex
        var used = 0
        for (index, field) in all.enumerated() {
            let name = bytes.baseAddress.map { $0 + used }
            for byte in field.name + field.value {
                bytes.initializeElement(at: used, to: byte)
                used += 1
            }
            var flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue
            if field.neverIndexed { flags |= NGHTTP2_NV_FLAG_NO_INDEX.rawValue }
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
