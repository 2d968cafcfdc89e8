/// One op as a commit lists it, read as far as it can be.
struct CommitOp {
    /// An op names an action, a path and two CIDs; what is longer than this is none, and is not decoded.
    private static let maximumSize = 4096

    /// As the commit wrote it; empty when there was none.
    private(set) var path = ""
    private(set) var action: Action?
    private(set) var collection: NSID?
    private(set) var rkey: RecordKey?
    /// nil on delete.
    private(set) var cid: CID?
    /// Why the op cannot be used; nil when it is whole.
    private(set) var problem: String?

    /// - Parameter bytes: one item of CBOR.
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count <= Self.maximumSize else {
            problem = "an op of \(bytes.count) bytes"
            return
        }
        do {
            let value = try DAGCBOR.decode(bytes)
            problem = readPath(value) ?? readAction(value)
        } catch {
            problem = error.description
        }
    }

    private mutating func readPath(_ value: Value) -> String? {
        guard let text = value["path"]?.string else { return "path is no text" }
        path = text
        let parts = text.utf8.split(separator: .ascii("/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return "path is not collection/rkey" }
        do {
            collection = try NSID(String(Substring(parts[0])))
            rkey = try RecordKey(String(Substring(parts[1])))
            return nil
        } catch {
            return "path: \(error)"
        }
    }

    private mutating func readAction(_ value: Value) -> String? {
        action = value["action"]?.string.flatMap(Action.init(rawValue:))
        switch action {
        case nil: return "an unknown action"
        case .delete:
            guard value["cid"]?.isNull ?? true else { return "a delete with a cid" }
        case .create, .update:
            guard let link = value["cid"]?.link else { return "no cid" }
            guard link.isOfRecord else { return "a cid that is not of DAG-CBOR with SHA-256" }
            cid = link
        }
        return nil
    }
}
