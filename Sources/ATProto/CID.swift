/// A content identifier: CIDv1, its codec and multihash, in binary form.
public struct CID: Sendable, Hashable, CustomStringConvertible {
    /// Version, codec and multihash, without the multibase or the 0x00 prefix of CBOR.
    public let bytes: [UInt8]

    /// From `b…` (base32) or another multibase text form.
    public init(_ text: String) throws(SyntaxError) { fatalError("stub") }

    public init(bytes: [UInt8]) throws(SyntaxError) { fatalError("stub") }

    /// The CID of a DAG-CBOR block: CIDv1, codec 0x71, SHA-256.
    public static func dagCBOR(of block: [UInt8]) -> CID { fatalError("stub") }

    /// True when `block` hashes to this CID.
    public func matches(_ block: [UInt8]) -> Bool { fatalError("stub") }

    public var description: String { fatalError("stub") }
}
