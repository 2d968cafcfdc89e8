import Net

/// Credentials and aim of the APNs channel. `description` shows no key.
public struct APNsConfiguration: Sendable, CustomStringConvertible, CustomReflectable {
    /// The `.p8`'s text.
    public var keyPEM: String
    public var keyID: String
    public var teamID: String
    public var bundleID: String
    /// For tests: a stand-in for both of Apple's gateways, and the roots to trust (PEM).
    public var standIn: Endpoint?
    public var caFile: String?

    public init(
        keyPEM: String, keyID: String, teamID: String, bundleID: String, standIn: Endpoint? = nil,
        caFile: String? = nil
    ) {
        self.keyPEM = keyPEM
        self.keyID = keyID
        self.teamID = teamID
        self.bundleID = bundleID
        self.standIn = standIn
        self.caFile = caFile
    }

    public var description: String { "APNs key \(keyID) of team \(teamID) for \(bundleID)" }
    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID, "bundleID": bundleID]) }
}

/// Which of Apple's two gateways knows a token.
enum APNsEnvironment: String, Sendable, Hashable, CaseIterable {
    case production, sandbox

    var gateway: Endpoint {
        switch self {
        case .production: Endpoint(host: "api.push.apple.com", port: 443)
        case .sandbox: Endpoint(host: "api.sandbox.push.apple.com", port: 443)
        }
    }

    var other: APNsEnvironment { self == .production ? .sandbox : .production }
}
