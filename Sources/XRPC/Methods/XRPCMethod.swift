import ATProto

/// One method of the server's.
struct XRPCMethod: Sendable {
    enum Kind: Sendable {
        /// GET, without a body.
        case query
        /// POST, with a JSON object as its body.
        case procedure
    }

    /// A call of a known account.
    struct Call: Sendable {
        var viewer: DID
        /// Empty for a query.
        var body: JSONBody
    }

    var nsid: String
    var kind: Kind
    /// The output; nil for a method that has none.
    var run: @Sendable (Call) async throws -> Value?
}
