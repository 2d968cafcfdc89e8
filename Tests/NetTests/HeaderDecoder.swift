import CNghttp2
import Testing

@testable import Net

/// nghttp2's decoder of header blocks.
final class HeaderDecoder {
    private var inflater: OpaquePointer?

    init() throws { try #require(nghttp2_hd_inflate_new(&inflater) == 0) }

    /// The size that the sender was told is not exceeded.
    func limitTable(to size: Int) { nghttp2_hd_inflate_change_table_size(inflater, size) }

    deinit { nghttp2_hd_inflate_del(inflater) }

    func fields(of block: [UInt8]) throws -> [HeaderField] {
        var fields: [HeaderField] = []
        try block.withUnsafeBufferPointer { block in
            var rest = block[...]
            var isOver = false
            while !isOver {
                var field = nghttp2_nv()
                var flags: Int32 = 0
                let input = UnsafeBufferPointer(rebasing: rest)
                let count = nghttp2_hd_inflate_hd2(inflater, &field, &flags, input.baseAddress, input.count, 1)
                try #require(count >= 0, "\(count)")
                rest = rest.dropFirst(count)
                if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                    fields.append(
                        HeaderField(
                            name: Array(UnsafeBufferPointer(start: field.name, count: field.namelen)),
                            value: Array(UnsafeBufferPointer(start: field.value, count: field.valuelen))))
                }
                isOver = flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0
            }
            nghttp2_hd_inflate_end_headers(inflater)
        }
        return fields
    }
}
