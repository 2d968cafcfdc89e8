import Storage

/// What an operator mends by writing something else: a file's name, a setting. The command ends with exit code 2.
public struct OperatorError: Error, Sendable, CustomStringConvertible {
    /// One line, without what steers a terminal.
    public var description: String

    public init(_ description: String) { self.description = description.printable }

    /// True for every error of this kind, whichever type it has.
    public static func isCause(of error: any Error) -> Bool {
        error is OperatorError || error is ConfigurationError || error is FileError || error is LexiconFolderError
    }
}

/// What went wrong although nothing was written wrongly. The command ends with exit code 1.
public struct RunError: Error, Sendable, CustomStringConvertible {
    /// One line, without what steers a terminal.
    public var description: String

    public init(_ description: String) { self.description = description.printable }
}
