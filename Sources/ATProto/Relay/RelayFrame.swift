/// One message of `com.atproto.sync.subscribeRepos`: header and body, with a CAR inside a commit.
///
/// Source: atproto.com/specs/event-stream, atproto.com/specs/sync.
public enum RelayFrame {
    /// In bytes, as the protocol bounds a message.
    public static let maximumSize = 5_000_000
    public static let maximumOps = 200

    /// What a header says of the body behind it.
    private enum Header {
        case message(type: String)
        case error
        /// An `op` that no version of the protocol has had so far.
        case unknown(op: Int64)
    }

    /// Decodes records only of collections that `keep` contains.
    ///
    /// Message types and fields that this version does not know are tolerated, as the protocol asks.
    /// - Throws: when the frame cannot be read, or lacks a field that it must have. What is wrong with one op alone
    ///   stands in the commit's `dropped`.
    public static func decode(_ bytes: [UInt8], keep: CollectionFilter) throws(DecodingFailure) -> Event {
        guard bytes.count <= maximumSize else { throw DecodingFailure("a frame of more than \(maximumSize) bytes") }
        return try bytes.withUnsafeBufferPointer { buffer throws(DecodingFailure) in
            var reader = CBORReader(buffer)
            let header = try header(&reader)
            guard case .message(let type) = header, type == "#commit" else {
                let event = try otherEvent(header, &reader)
                try reader.end()
                return event
            }
            let body = try FrameFields(&reader, "the commit", lenient: "ops")
            guard reader.remaining == 0 else { throw DecodingFailure("bytes behind the body", offset: reader.offset) }
            var commit = try CommitFrame(body, frame: bytes)
            return .commit(try commit.read(keep: keep))
        }
    }

    private static func header(_ reader: inout CBORReader) throws(DecodingFailure) -> Header {
        let fields = try FrameFields(&reader, "the header")
        switch try fields.integer("op") {
        case 1: return .message(type: try fields.text("t"))
        case -1: return .error
        case let op: return .unknown(op: op)
        }
    }

    private static func otherEvent(_ header: Header, _ reader: inout CBORReader) throws(DecodingFailure) -> Event {
        switch header {
        case .message("#sync"): return .sync(try sync(FrameFields(&reader, "#sync")))
        case .message("#identity"): return .identity(try identity(FrameFields(&reader, "#identity")))
        case .message("#account"): return .account(try account(FrameFields(&reader, "#account")))
        case .message("#info"):
            let fields = try FrameFields(&reader, "#info")
            return .info(name: try fields.text("name"), message: try fields.optionalText("message"))
        case .error:
            let fields = try FrameFields(&reader, "the error")
            return .error(name: try fields.text("error"), message: try fields.optionalText("message"))
        case .message(let type):
            try reader.skip(depth: DAGCBOR.maximumDepth)
            return .info(name: String(type.prefix(100)), message: nil)
        case .unknown(let op):
            try reader.skip(depth: DAGCBOR.maximumDepth)
            return .info(name: "op \(op)", message: nil)
        }
    }

    private static func sync(_ fields: FrameFields) throws(DecodingFailure) -> Sync {
        _ = try fields.bytes("blocks")
        _ = try fields.time()
        return Sync(repo: try fields.did("did"), rev: try fields.tid("rev"), seq: try fields.seq())
    }

    private static func identity(_ fields: FrameFields) throws(DecodingFailure) -> IdentityUpdate {
        _ = try fields.time()
        // The handle is a hint, to be resolved anyway: one that is none does not make the news worthless.
        let handle = try fields.optionalText("handle").flatMap { try? Handle($0) }
        return IdentityUpdate(did: try fields.did("did"), handle: handle, seq: try fields.seq())
    }

    private static func account(_ fields: FrameFields) throws(DecodingFailure) -> AccountUpdate {
        _ = try fields.time()
        return AccountUpdate(
            did: try fields.did("did"), active: try fields.bool("active"), status: try fields.optionalText("status"),
            seq: try fields.seq())
    }
}
