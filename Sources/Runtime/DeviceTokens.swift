import ATProto
import FoundationEssentials
import Storage

/// The registered devices of a database, for operators. Works beside a running Hark; never hands out a whole token.
public struct DeviceTokens: Sendable {
    private let database: Database

    /// - Throws: `OperatorError` or `RunError` when the database cannot be opened.
    public init(database path: String) throws {
        database = try Database.open(path, as: .guest)
    }

    /// A device as a person may see it.
    public struct Listing: Sendable, Hashable {
        public var id: Int64
        public var did: String
        public var platform: String
        public var environment: String
        public var topic: String?
        public var label: String?
        public var locale: String?
        /// The token's last 8 characters.
        public var suffix: String
        /// ISO 8601, UTC.
        public var createdAt: String
        public var lastSeenAt: String
        /// When a push was last refused for a fault of the token, and the provider's word; nil when all is well.
        public var failedAt: String?
        public var failure: String?
    }

    /// Registers a device, or refreshes its registration. Returns the id, which stays the same then.
    public func add(_ device: NewDevice) async throws -> Int64 {
        let token = NewPushToken(
            did: device.did, token: device.token, platform: device.platform, environment: device.environment,
            topic: device.topic, label: device.label)
        return try await database.write { try $0.register(token, now: millisecondsSince1970()) }
    }

    /// A person's devices, or everybody's.
    public func list(did: String?) throws -> [Listing] {
        try database.read { connection in
            try connection.tokens(did: did).map {
                Listing(
                    id: $0.id, did: $0.did, platform: $0.platform, environment: $0.environment, topic: $0.topic,
                    label: $0.label, locale: $0.locale, suffix: $0.suffix, createdAt: $0.createdAt,
                    lastSeenAt: $0.lastSeenAt, failedAt: $0.failedAt, failure: $0.failure)
            }
        }
    }

    /// Removes one device, and only if it is `did`'s when that is given. False when there is none.
    public func remove(id: Int64, did: String?) async throws -> Bool {
        try await database.write { try $0.removeToken(id: id, did: did) }
    }

    public func close() { database.close() }
}

/// A device to be registered: everything is checked.
public struct NewDevice: Sendable {
    public let did: String
    public let token: String
    public let platform: String
    public let environment: String
    public let topic: String?
    public let label: String?

    public static func isDID(_ text: String) -> Bool { DID.isValid(text) }

    static let maximumLabelLength = 256

    /// - Throws: an `OperatorError` that says what is wrong, and that never holds the token.
    public init(
        did: String, token: String, platform: String, environment: String, topic: String?, label: String?
    ) throws(OperatorError) {
        guard Self.isDID(did) else { throw OperatorError("\"\(did)\" is not a DID") }
        guard platform == "apns" else { throw OperatorError("the platform must be apns, not \"\(platform)\"") }
        guard environment == "production" || environment == "sandbox" else {
            throw OperatorError("the environment must be production or sandbox, not \"\(environment)\"")
        }
        if token.isEmpty { throw OperatorError("no token came on standard input") }
        if let problem = DeviceToken.problem(inApple: token) { throw OperatorError(problem) }
        if let topic, !Self.isTopic(topic) {
            throw OperatorError("the topic must be an app's identifier, such as com.grain.app, not \"\(topic)\"")
        }
        if let label, label.utf8.count > Self.maximumLabelLength {
            throw OperatorError("the label is longer than \(Self.maximumLabelLength) bytes")
        }
        self.did = did
        self.token = token
        self.platform = platform
        self.environment = environment
        self.topic = topic
        self.label = label
    }

    private static func isTopic(_ topic: String) -> Bool {
        !topic.isEmpty && topic.utf8.count <= 255
            && topic.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "." || $0 == "-")
            }
    }
}

private func millisecondsSince1970() -> Int64 { Int64(Date.now.timeIntervalSince1970 * 1000) }
