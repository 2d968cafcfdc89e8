import ATProto
import Net
import XRPC

/// A phone's app: calls a push server's methods over XRPC, in its user's name.
///
/// Each call carries a service token of its own, such as the user's server signs. Thread-safe.
public final class SimulatedApp: Sendable {
    private let server: String
    private let audience: String
    private let client: WebClient

    /// - Parameters:
    ///   - server: the URL that the server answers at, without a path.
    ///   - audience: the server's DID.
    /// - Throws: when there are no threads left.
    public init(server: String, audience: String) throws {
        self.server = server
        self.audience = audience
        var options = WebClient.Options()
        // Longer than a server takes to give up on somebody's key.
        options.timeout = .seconds(60)
        client = try WebClient(options)
    }

    public func close() { client.stop() }

    /// What a server said to a call.
    public struct Answer: Sendable {
        public var status: Int
        public var body: [UInt8]

        /// `error` of a refusal, such as `InvalidToken`.
        public var error: String? { (try? JSON.decode(body, as: .plain))?["error"]?.string }
    }

    /// Registers a device of `user` under `social.hatk.push.registerToken`.
    public func register(_ device: String, of user: PLCIdentity, environment: String = "production") async throws
        -> Answer
    {
        try await call(
            "social.hatk.push.registerToken", of: user,
            .object([
                "token": .string(device), "platform": .string("apns"), "environment": .string(environment),
            ]))
    }

    /// Takes the registration back, under `social.hatk.push.unregisterToken`.
    public func unregister(_ device: String, of user: PLCIdentity) async throws -> Answer {
        try await call("social.hatk.push.unregisterToken", of: user, .object(["token": .string(device)]))
    }

    /// Calls any procedure.
    public func call(_ method: String, of user: PLCIdentity, _ input: Value) async throws -> Answer {
        let token = try user.serviceToken(PLCIdentity.Claims(audience: audience, method: method))
        let request = WebRequest(
            url: "\(server)/xrpc/\(method)",
            headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
            body: JSON.encode(input))
        let answer = try await client.send(request, policy: .any)
        return Answer(status: answer.status, body: answer.body)
    }
}
