extension CAR {
    /// The bytes of an archive with these blocks, in this order.
    public static func encode(roots: [CID], blocks: some Sequence<(cid: CID, bytes: [UInt8])>) -> [UInt8] {
        let header = DAGCBOR.encode(
            .map(
                ValueMap(canonical: [
                    ValueMap.Entry(key: "roots", value: .array(roots.map(Value.link))),
                    ValueMap.Entry(key: "version", value: .integer(1)),
                ])))
        var bytes: [UInt8] = []
        Varint.append(UInt64(header.count), to: &bytes)
        bytes += header
        for block in blocks {
            Varint.append(UInt64(block.cid.bytes.count + block.bytes.count), to: &bytes)
            bytes += block.cid.bytes
            bytes += block.bytes
        }
        return bytes
    }
}
