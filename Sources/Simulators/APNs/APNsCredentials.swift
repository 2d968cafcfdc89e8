import Crypto
import Glibc

/// A provider's identity as Apple's developer site hands it out, here made up. Its description shows no key.
public struct APNsCredentials: Sendable, CustomStringConvertible, CustomReflectable {
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

    /// A fresh key under fresh ids of the form that Apple's have.
    public static func generate(bundleID: String = "com.example.app") throws -> APNsCredentials {
        APNsCredentials(keyPEM: try newKeyPEM(), keyID: try newID(), teamID: try newID(), bundleID: bundleID)
    }

    public var description: String { "provider \(teamID), key \(keyID), \(bundleID)" }
    public var customMirror: Mirror {
        Mirror(self, children: ["keyID": keyID, "teamID": teamID, "bundleID": bundleID])
    }

    /// Ten capital letters and digits.
    private static func newID() throws -> String {
        let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        return String(try SecureRandom.bytes(10).map { alphabet[Int($0) % alphabet.count] })
    }

    private static func newKeyPEM() throws -> String {
        var scalar = try SecureRandom.bytes(32)
        while (try? PrivateKey(.p256, scalar: scalar)) == nil { scalar = try SecureRandom.bytes(32) }
        let text = Base64.encode(pkcs8Prefix + scalar, .standard, padding: .required)
        var lines = ["-----BEGIN PRIVATE KEY-----"]
        var rest = Substring(text)
        while !rest.isEmpty {
            lines.append(String(rest.prefix(64)))
            rest = rest.dropFirst(64)
        }
        return (lines + ["-----END PRIVATE KEY-----", ""]).joined(separator: "\n")
    }

    /// PrivateKeyInfo (RFC 5958) of an EC key on prime256v1, up to the 32 bytes of its ECPrivateKey (RFC 5915).
    private static let pkcs8Prefix: [UInt8] = [
        0x30, 0x41, 0x02, 0x01, 0x00,
        0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
        0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20,
    ]
}

extension APNsCredentials {
    /// Writes `AuthKey_ID.p8`, `ca.pem` and `hark.json5` into `folder` (made when absent), ready for `hark replay`.
    ///
    /// Returns the lines that tell a person how to aim Hark at the simulator. Throws `FileFailure`, also where there is a
    /// `hark.json5` that a person wrote.
    @discardableResult
    public func write(to folder: String, caPEM: String, port: UInt16) throws -> [String] {
        if mkdir(folder, 0o700) != 0, errno != EEXIST { throw FileFailure(folder, errno) }
        let configurationFile = "\(folder)/hark.json5"
        guard !Self.isForeign(configurationFile) else {
            throw FileFailure("\(configurationFile) was there before: name another folder")
        }
        let keyFile = "AuthKey_\(keyID).p8"
        try Self.write(keyPEM, to: "\(folder)/\(keyFile)")
        try Self.write(caPEM, to: "\(folder)/ca.pem")
        try Self.write(configuration(keyFile: "./\(keyFile)"), to: configurationFile)
        return [
            "export HARK_APNS_HOST=127.0.0.1:\(port)",
            "export HARK_APNS_CA_FILE=\(folder)/ca.pem",
            "hark replay --config \(configurationFile) RECORDING",
        ]
    }

    private func configuration(keyFile: String) -> String {
        """
        { \(Self.mark)
          database: "hark.db",
          push: {
            apns: {
              keyFile: "\(keyFile)",
              keyId: "\(keyID)",
              teamId: "\(teamID)",
              bundleId: "\(bundleID)",
            },
          },
        }

        """
    }

    /// In the first line of a configuration that may be replaced.
    private static let mark = "// made by hark simulate apns"

    private static func isForeign(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var start = [UInt8](repeating: 0, count: 256)
        let count = read(file, &start, start.count)
        let firstLine = String(decoding: start.prefix(max(count, 0)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return !firstLine.contains(Self.mark)
    }

    /// Readable by its owner alone; an older file of the name is replaced.
    private static func write(_ text: String, to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileFailure(path, errno) }
        defer { close(file) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno != EINTR { throw FileFailure(path, errno) }
            rest = rest.dropFirst(max(count, 0))
        }
    }
}
