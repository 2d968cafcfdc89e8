import Crypto

/// A content identifier: CIDv1, its codec and multihash, in binary form.
///
/// Any well-formed CIDv1 can be held. What records may link to is narrower, see `isLinkable`; what lexicons' string
/// format `cid` lets pass is wider, see `isValid(_:)`. Source: github.com/multiformats/cid, atproto.com/specs/data-model.
public struct CID: SyntaxChecked {
    public static let kind = "cid"
    /// The longest digest that is held, in bytes: SHA-512's.
    public static let maximumDigestLength = 64

    /// The codecs that the protocol uses.
    public enum Codec {
        /// Bytes of any kind: blobs.
        public static let raw: UInt64 = 0x55
        public static let dagCBOR: UInt64 = 0x71
    }

    /// Version, codec and multihash, without the multibase or the 0x00 prefix of CBOR.
    public let bytes: [UInt8]

    /// From `b…` (base32) or another multibase text form.
    public init(_ text: String) throws(SyntaxError) {
        try Self.check(text)
        let decoded: [UInt8]
        do {
            decoded = try Multibase.decode(text)
        } catch {
            throw SyntaxError(kind: Self.kind, reason: error.description)
        }
        try self.init(bytes: decoded)
    }

    public init(bytes: [UInt8]) throws(SyntaxError) {
        guard Layout(bytes.span) != nil else {
            throw SyntaxError(kind: Self.kind, reason: "not a version, a codec and a multihash")
        }
        self.bytes = bytes
    }

    /// Takes bytes whose layout has been checked.
    init(checked bytes: [UInt8]) { self.bytes = bytes }

    /// The CID of a DAG-CBOR block: CIDv1, codec 0x71, SHA-256.
    public static func dagCBOR(of block: [UInt8]) -> CID { block.withUnsafeBytes { sha256(of: $0, codec: 0x71) } }

    /// The CID of bytes of any kind: CIDv1, codec 0x55, SHA-256.
    public static func raw(of block: [UInt8]) -> CID { block.withUnsafeBytes { sha256(of: $0, codec: 0x55) } }

    private static func sha256(of block: UnsafeRawBufferPointer, codec: UInt8) -> CID {
        CID(
            checked: [UInt8](unsafeUninitializedCapacity: 36) { bytes, count in
                for (index, byte) in [1, codec, 0x12, 32].enumerated() { bytes[index] = byte }
                SHA256.hash(
                    block, into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(bytes)[4...]))
                count = 36
            })
    }

    /// True when `block` hashes to this CID. Only SHA-256 can be told.
    public func matches(_ block: [UInt8]) -> Bool { block.withUnsafeBytes { matches($0) } }

    public func matches(_ block: UnsafeRawBufferPointer) -> Bool {
        let layout = layout
        guard layout.hash == 0x12, layout.digest.count == SHA256.byteCount else { return false }
        return withUnsafeTemporaryAllocation(byteCount: SHA256.byteCount, alignment: 8) { digest in
            SHA256.hash(block, into: digest)
            return digest.elementsEqual(bytes[layout.digest])
        }
    }

    /// `dagCBOR`, `raw` or another number of the multicodec table.
    public var codec: UInt64 { layout.codec }

    /// True for DAG-CBOR with SHA-256, the CIDs of records, commits and tree nodes.
    public var isOfRecord: Bool { isLinkable && bytes[1] == 0x71 && bytes[2] == 0x12 }

    /// True when a record may link to it: codec DAG-CBOR or raw, 32 bytes of SHA-256 or BLAKE3.
    ///
    /// The protocol's own data uses SHA-256 alone; for what lies elsewhere, DASL allows BLAKE3 too (dasl.ing/cid.html).
    public var isLinkable: Bool { Self.isLinkable(bytes.span) }

    static func isLinkable(_ bytes: Span<UInt8>) -> Bool {
        bytes.count == 36 && bytes[0] == 1 && (bytes[1] == 0x71 || bytes[1] == 0x55)
            && (bytes[2] == 0x12 || bytes[2] == 0x1e) && bytes[3] == 32
    }

    /// Base32, as the protocol writes it.
    public var description: String { Multibase.encodeBase32(bytes) }

    /// What is wrong with a string of lexicons' format `cid`. As elsewhere in the protocol this looks at length and
    /// alphabet alone: texts pass that no CID can be decoded from.
    public static func problem(in text: Span<UInt8>) -> String? {
        guard 8...256 ~= text.count else { return "not 8 to 256 characters" }
        if text.has("Qm") { return "CIDv0 is not supported" }
        for index in 0..<text.count {
            let byte = text[index]
            guard byte.isAlphanumeric || byte == .ascii("+") || byte == .ascii("=") else {
                return "a character that a CID cannot hold"
            }
        }
        return nil
    }

    // The bytes were checked when they came in.
    private var layout: Layout { Layout(bytes.span) ?? Layout() }
}

extension CID {
    /// Where the parts of a binary CID stand.
    struct Layout {
        var codec: UInt64 = 0
        var hash: UInt64 = 0
        var digest: Range<Int> = 0..<0

        init() {}

        /// nil when the bytes are no CIDv1, or hold more than one.
        init?(_ bytes: Span<UInt8>) {
            guard let (layout, end) = Self.leading(bytes, at: 0), end == bytes.count else { return nil }
            self = layout
        }

        /// The CID that begins at `start`, and where it ends.
        static func leading(_ bytes: Span<UInt8>, at start: Int) -> (layout: Layout, end: Int)? {
            var offset = start
            guard Varint.read(bytes, at: &offset) == 1,
                let codec = Varint.read(bytes, at: &offset),
                let hash = Varint.read(bytes, at: &offset),
                let length = Varint.read(bytes, at: &offset),
                length <= maximumDigestLength, bytes.count - offset >= Int(length)
            else { return nil }
            var layout = Layout()
            layout.codec = codec
            layout.hash = hash
            layout.digest = offset..<offset + Int(length)
            return (layout, layout.digest.upperBound)
        }
    }
}
