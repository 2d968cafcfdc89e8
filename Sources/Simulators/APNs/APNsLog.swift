/// Where the simulator writes a JSON line for each request.
public struct APNsLog: Sendable {
    /// Gets whole lines, each with its newline, from one thread at a time.
    public var write: @Sendable ([UInt8]) -> Void
    /// Whole device tokens; otherwise their last 8 characters.
    public var showsTokens: Bool

    public init(showsTokens: Bool = false, write: @escaping @Sendable ([UInt8]) -> Void) {
        self.write = write
        self.showsTokens = showsTokens
    }

    /// Appends to a file.
    public static func file(_ path: String, showsTokens: Bool = false) throws -> APNsLog { fatalError("stub") }
    /// Standard output.
    public static func standardOutput(showsTokens: Bool = false) -> APNsLog { fatalError("stub") }
}
