/// Reports what an operator should know: one line a call, with the module, the operation and its fields.
///
/// Fields never hold a whole token, key or JWT.
public struct Emit: Sendable {
    public typealias Fields = KeyValuePairs<String, String>

    private let sink: @Sendable (_ module: String, _ op: String, _ fields: Fields) -> Void

    public init(_ sink: @escaping @Sendable (_ module: String, _ op: String, _ fields: Fields) -> Void) {
        self.sink = sink
    }

    /// Drops everything.
    public static let silent = Emit { _, _, _ in }

    public func callAsFunction(_ module: String, _ op: String, _ fields: Fields = [:]) {
        sink(module, op, fields)
    }
}
