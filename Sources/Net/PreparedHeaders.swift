/// Request headers that many requests share, laid out once; each request has fields of its own besides, `:path` first
/// (`FieldLiterals`).
public final class PreparedHeaders: Sendable {
    /// Those that HPACK's table may hold.
    let fields: [HeaderField]
    /// The others, encoded.
    let literals: [UInt8]

    /// `fields` in the order to send, the pseudo-headers first, `:path` left out. Those that are never indexed come last.
    public init(_ fields: [HeaderField]) {
        var literals = FieldLiterals()
        for field in fields where field.neverIndexed { literals.append(field) }
        self.literals = literals.bytes
        self.fields = fields.filter { !$0.neverIndexed }
    }
}
