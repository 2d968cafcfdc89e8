import Crypto

/// The root of a repo at one revision: who, when, and which tree of records, signed by the account's key.
///
/// Source: atproto.com/specs/repository#commit-objects, version 3.
public struct SignedCommit: Sendable, Hashable {
    public static let version: Int64 = 3

    public let did: DID
    public let rev: TID
    /// The root node of the tree that holds the records.
    public let data: CID
    /// The commit before, where the repo says so; mostly nil.
    public let prev: CID?
    /// r ‖ s, 64 bytes.
    public let signature: [UInt8]
    /// The whole object in DAG-CBOR.
    public let block: [UInt8]
    /// What the signature signs: the object without it, fields included that this version does not know.
    public let unsignedBlock: [UInt8]

    /// A fresh commit, signed.
    public init(did: DID, rev: TID, data: CID, prev: CID? = nil, signedBy key: PrivateKey) throws(KeyError) {
        let unsigned = ValueMap(canonical: [
            ValueMap.Entry(key: "did", value: .string(did.description)),
            ValueMap.Entry(key: "rev", value: .string(rev.description)),
            ValueMap.Entry(key: "data", value: .link(data)),
            // Present even when there is none.
            ValueMap.Entry(key: "prev", value: prev.map(Value.link) ?? .null),
            ValueMap.Entry(key: "version", value: .integer(Self.version)),
        ])
        self.did = did
        self.rev = rev
        self.data = data
        self.prev = prev
        unsignedBlock = DAGCBOR.encode(.map(unsigned))
        signature = try key.sign(unsignedBlock)
        var entries = unsigned.entries
        // "did", "rev", then "sig": canonical order.
        entries.insert(ValueMap.Entry(key: "sig", value: .bytes(signature)), at: 2)
        block = DAGCBOR.encode(.map(ValueMap(canonical: entries)))
    }

    /// Reads a commit without trusting it: see `isSigned(by:)`.
    public init(block: [UInt8]) throws(DecodingFailure) {
        let value = try DAGCBOR.decode(block)
        guard let map = value.map, value["version"]?.integer == Self.version else {
            throw DecodingFailure("not a commit of version \(Self.version)")
        }
        guard let did = value["did"]?.string.flatMap({ try? DID($0) }),
            let rev = value["rev"]?.string.flatMap({ try? TID($0) }), let data = value["data"]?.link,
            let signature = value["sig"]?.bytes
        else { throw DecodingFailure("a commit without did, rev, data or sig") }
        guard value["prev"]?.isNull ?? true || value["prev"]?.link != nil else {
            throw DecodingFailure("a commit whose prev is no link")
        }
        self.did = did
        self.rev = rev
        self.data = data
        prev = value["prev"]?.link
        self.signature = signature
        self.block = block
        unsignedBlock = DAGCBOR.encode(.map(ValueMap(canonical: map.entries.filter { $0.key != "sig" })))
    }

    public var cid: CID { CID.dagCBOR(of: block) }

    /// True when `key` signed this commit, in the one form of signature that the protocol allows.
    public func isSigned(by key: PublicKey) -> Bool { key.verify(signature, of: unsignedBlock) }
}
