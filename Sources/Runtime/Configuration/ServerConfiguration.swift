import Identity
import XRPC

/// Whose calls are let in, and how their keys are found. Key `auth`.
public struct AuthConfiguration: Sendable {
    /// How far ahead a service token may expire. Key `auth.lifetime`.
    public var lifetime: Duration = .seconds(300)
    /// How far the clocks of those who sign may differ from this one. Key `auth.skew`.
    public var skew: Duration = .seconds(30)
    /// Hosts of did:web (`host` or `host:port`) that may have private addresses: for tests. Key `auth.allowHosts`.
    public var allowedHosts: Set<String> = []
    /// DID documents remembered. Key `auth.documents`.
    public var documents = IdentityResolver.Options().capacity
    /// When a document is fetched again. Key `auth.documentAge`.
    public var documentAge = IdentityResolver.Options().maximumAge

    public init() {}

    mutating func read(_ section: inout ConfigurationSection) -> [ConfigurationProblem] {
        lifetime = section.duration("lifetime", in: .seconds(1)...(.seconds(3600))) ?? lifetime
        skew = section.duration("skew", in: .milliseconds(0)...(.seconds(300))) ?? skew
        if let hosts = section.texts("allowHosts", check: Self.hostProblem) {
            allowedHosts = Set(hosts.map { $0.lowercased() })
        }
        documents = section.integer("documents", in: 1...10_000_000) ?? documents
        documentAge = section.duration("documentAge", in: .seconds(1)...(.seconds(86_400))) ?? documentAge
        return section.finish()
    }

    private static func hostProblem(_ text: String) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        let isName =
            parts[0].first != nil
            && parts[0].allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
        let hasPort = parts.count == 1 || UInt16(String(Substring(parts[1]))).map { $0 > 0 } == true
        return isName && hasPort ? nil : "\"\(text.printable)\" is no host, such as \"localhost\" or \"localhost:8080\""
    }
}

extension HTTPLimits {
    /// From the file's `limits`.
    mutating func read(_ section: inout ConfigurationSection) -> [ConfigurationProblem] {
        let time = Duration.milliseconds(100)...(.seconds(3600))
        maximumBody = section.integer("body", in: 1024...(1 << 20)) ?? maximumBody
        maximumHeaders = section.integer("headers", in: 1024...(64 << 10)) ?? maximumHeaders
        maximumConnections = section.integer("connections", in: 16...1_000_000) ?? maximumConnections
        maximumConnectionsPerAddress =
            section.integer("connectionsPerAddress", in: 1...1_000_000) ?? maximumConnectionsPerAddress
        if let rate = section.integer("requestsPerSecond", in: 0...1_000_000) { requestsPerSecond = Double(rate) }
        requestBurst = section.integer("burst", in: 1...1_000_000) ?? requestBurst
        idleTimeout = section.duration("idle", in: time) ?? idleTimeout
        transferTimeout = section.duration("transfer", in: time) ?? transferTimeout
        handlerTimeout = section.duration("answer", in: time) ?? handlerTimeout
        return section.finish()
    }
}

extension AdminToken {
    private static let maximumFileSize = 4096

    /// From the file's `admin`: the token itself, or the file that holds it. Nil, with what is wrong reported, when it
    /// cannot be used. What it is is never reported.
    init?(_ section: inout ConfigurationSection, folder: String) {
        let token = section.text("token")
        let file = section.text("tokenFile")?.path(relativeTo: folder)
        let key = section.has("token") ? "token" : "tokenFile"
        switch (section.has("token"), section.has("tokenFile")) {
        case (true, true):
            section.report("tokenFile", "stands beside token: keep one of them")
            return nil
        case (false, false):
            section.report("token", "is missing: choose one, or name the file that holds it in tokenFile")
            return nil
        default: break
        }
        guard let text = token ?? file.flatMap({ Self.read($0, &section) }) else { return nil }
        do throws(ServerError) {
            try self.init(text)
        } catch {
            section.report(key, "\(error)")
            return nil
        }
    }

    /// The file's one line.
    private static func read(_ path: String, _ section: inout ConfigurationSection) -> String? {
        do throws(FileError) {
            var bytes = try FileContents.read(path, limit: maximumFileSize)[...]
            while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            section.report("tokenFile", "\(error)")
            return nil
        }
    }
}
