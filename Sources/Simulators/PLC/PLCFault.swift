/// What a PLC directory does wrong when it is asked for a document.
public enum PLCFault: Sendable, Hashable {
    /// Answers rightly, but late.
    case slow(Duration)
    /// Answers with this status instead.
    case status(Int)
    /// Takes the request and never answers.
    case dead
    /// The document of another account.
    case wrongDID
    /// 200, and nothing that could be JSON.
    case garbage
    /// A document of 1 MiB.
    case huge
    /// 302 to this URL.
    case redirect(String)
}

extension PLCFault {
    /// A fault, and the DID that it is confined to; nil for every document.
    public struct Rule: Sendable, Hashable {
        public var fault: PLCFault
        public var did: String?

        public init(_ fault: PLCFault, did: String? = nil) {
            self.fault = fault
            self.did = did
        }

        /// From `FAULT[@DID]`, as in `slow=2s` or `500@did:plc:…`.
        public init(_ text: String) throws(FaultSyntaxError) {
            let mark = text.firstRange(of: "@did:")?.lowerBound
            fault = try PLCFault(String(mark.map { text[..<$0] } ?? text[...]))
            did = mark.map { String(text[text.index(after: $0)...]) }
        }
    }

    /// For a usage text.
    public static let forms = "slow=2s, 500, dead, wrong-did, garbage, huge, redirect=URL"

    /// From one of `forms`.
    public init(_ text: String) throws(FaultSyntaxError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.count == 2 ? parts[1] : nil) {
        case ("slow", let time?): self = .slow(try Faults.duration(time))
        case ("redirect", let url?) where !url.isEmpty: self = .redirect(url)
        case ("dead", nil): self = .dead
        case ("wrong-did", nil): self = .wrongDID
        case ("garbage", nil): self = .garbage
        case ("huge", nil): self = .huge
        case (let status, nil):
            guard let status = Int(status), 400...599 ~= status else { fallthrough }
            self = .status(status)
        default: throw FaultSyntaxError("'\(text)' is no fault of a directory: \(Self.forms)")
        }
    }
}
