/// A provider's identity as Apple's developer site hands it out, made up for the simulator.
public struct APNsCredentials: Sendable {
    /// The `.p8`: a P-256 private key, PKCS #8, PEM.
    public var keyPEM: String
    public var keyID: String
    public var teamID: String
    public var bundleID: String

    public init(keyPEM: String, keyID: String, teamID: String, bundleID: String) {
        self.keyPEM = keyPEM
        self.keyID = keyID
        self.teamID = teamID
        self.bundleID = bundleID
    }

    /// A fresh key under made-up ids.
    public static func generate(bundleID: String = "com.example.app") throws -> APNsCredentials {
        fatalError("stub")
    }

    /// Writes `AuthKey_ID.p8`, `ca.pem` and `hark.json5` into `folder` (made when absent), ready for `hark replay`.
    /// Returns the lines that tell a person how to aim Hark at the simulator.
    @discardableResult
    public func write(to folder: String, caPEM: String, port: UInt16) throws -> [String] { fatalError("stub") }
}
