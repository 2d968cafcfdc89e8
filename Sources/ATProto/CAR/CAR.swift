/// An archive of blocks (CAR v1), indexed by CID without copying a block.
///
/// Reading checks the layout alone: whoever takes a block out hashes it against its CID (`CID.matches`).
/// Source: ipld.io/specs/transport/car/carv1.
public struct CAR: Sendable {
    /// The CIDs that the header names; a repo's archive has one, its commit.
    public let roots: [CID]
    /// The bytes that hold the archive, perhaps among others.
    public let bytes: [UInt8]
    private let entries: [Entry]
    /// Made only for archives with many blocks: the commits of a firehose have some ten.
    private let index: [CID: Int]?

    private struct Entry {
        var cid: Range<Int>
        var block: Range<Int>
    }

    /// Few enough to look through them one by one.
    private static let few = 32

    /// - Parameter range: where in `bytes` the archive lies; everywhere when nil.
    public init(_ bytes: [UInt8], in range: Range<Int>? = nil) throws(DecodingFailure) {
        let range = range ?? bytes.indices
        guard range.lowerBound >= 0, range.upperBound <= bytes.count else {
            throw DecodingFailure("the archive is not inside the bytes")
        }
        let (roots, entries) = try bytes.withUnsafeBufferPointer { buffer throws(DecodingFailure) in
            var offset = range.lowerBound
            let archive = Span(_unsafeElements: UnsafeBufferPointer(rebasing: buffer[..<range.upperBound]))
            let header = try Self.section(archive, at: &offset)
            let roots = try Self.roots(UnsafeBufferPointer(rebasing: buffer[header]), at: header.lowerBound)
            var entries: [Entry] = []
            while offset < archive.count { entries.append(try Self.entry(archive, at: &offset)) }
            return (roots, entries)
        }
        self.roots = roots
        self.bytes = bytes
        self.entries = entries
        index = entries.count <= Self.few ? nil : Self.index(entries, in: bytes)
    }

    public var count: Int { entries.count }

    /// The CID of each block, in the archive's order.
    public var cids: [CID] { entries.map { CID(checked: Array(bytes[$0.cid])) } }

    /// Where in `bytes` the block with this CID lies; nil when the archive has none.
    public func range(of cid: CID) -> Range<Int>? {
        if let index { return index[cid].map { entries[$0].block } }
        return bytes.withUnsafeBufferPointer { buffer in
            entries.first { buffer[$0.cid].elementsEqual(cid.bytes) }?.block
        }
    }

    /// The block with this CID, sharing the archive's memory; nil when there is none.
    public func block(_ cid: CID) -> ArraySlice<UInt8>? { range(of: cid).map { bytes[$0] } }

    private static func index(_ entries: [Entry], in bytes: [UInt8]) -> [CID: Int] {
        var index: [CID: Int] = [:]
        index.reserveCapacity(entries.count)
        // Of blocks that claim the same CID the first counts, as it does for few.
        for (place, entry) in entries.enumerated().reversed() { index[CID(checked: Array(bytes[entry.cid]))] = place }
        return index
    }

    /// A length and as many bytes, which `offset` passes.
    private static func section(_ archive: Span<UInt8>, at offset: inout Int) throws(DecodingFailure) -> Range<Int> {
        let start = offset
        guard let length = Varint.read(archive, at: &offset) else {
            throw DecodingFailure("no length, or not in its shortest form", offset: start)
        }
        guard length > 0, length <= UInt64(archive.count - offset) else {
            throw DecodingFailure("a section that is empty or goes beyond the archive's end", offset: start)
        }
        let section = offset..<offset + Int(length)
        offset = section.upperBound
        return section
    }

    private static func entry(_ archive: Span<UInt8>, at offset: inout Int) throws(DecodingFailure) -> Entry {
        let section = try section(archive, at: &offset)
        let block = archive.extracting(..<section.upperBound)
        guard let (_, end) = CID.Layout.leading(block, at: section.lowerBound) else {
            throw DecodingFailure("a block without a CIDv1", offset: section.lowerBound)
        }
        return Entry(cid: section.lowerBound..<end, block: end..<section.upperBound)
    }

    private static func roots(_ header: UnsafeBufferPointer<UInt8>, at start: Int) throws(DecodingFailure) -> [CID] {
        let value: Value
        do {
            value = try DAGCBOR.decode(header)
        } catch {
            throw DecodingFailure("the archive's header: \(error.message)", offset: error.offset.map { $0 + start })
        }
        guard value["version"] == .integer(1), let roots = value["roots"]?.array, value.map?.entries.count == 2 else {
            throw DecodingFailure("the archive's header is not that of CAR v1", offset: start)
        }
        let cids = roots.compactMap(\.link)
        guard cids.count == roots.count else { throw DecodingFailure("a root that is no link", offset: start) }
        return cids
    }
}
