import HookKit

/// One team's key: its present token, and where Apple refuses it. Shared by all its connections; confined to the loop.
final class ProviderKey {
    /// So many 403 in a row that a new token or a second try did not mend stop the key.
    static let maximumDoubts = 3

    /// What the errors of rows begin with that a stopped key keeps waiting.
    static let stoppedReason = "key stopped"

    private(set) var id: String
    var token: ProviderToken
    /// Of its first token: what carried an older one says nothing of this key.
    private(set) var firstGeneration: Int
    private(set) var stopped: [APNsEnvironment: String] = [:]
    private var doubts = 0
    private let emit: Emit

    init(id: String, token: ProviderToken, emit: Emit) {
        self.id = id
        self.token = token
        firstGeneration = token.generation
        self.emit = emit
    }

    var isStoppedEverywhere: Bool { stopped.count == APNsEnvironment.allCases.count }

    func succeeded() { doubts = 0 }

    /// A new key in its place, which nobody has refused yet.
    func replace(id: String, token: ProviderToken) {
        self.id = id
        self.token = token
        firstGeneration = token.generation
        stopped = [:]
        doubts = 0
    }

    /// Counts a refusal that may be of the key. True when there have been too many.
    func doubt() -> Bool {
        doubts += 1
        return doubts >= Self.maximumDoubts
    }

    /// Says so loudly, once an environment. Rows stay in the outbox until a good key is loaded.
    func stop(_ environments: [APNsEnvironment], reason: String) {
        for environment in environments where stopped[environment] == nil {
            stopped[environment] = reason
            emit(
                "push", "key_stopped",
                [
                    "channel": "apns", "key": id, "environment": environment.rawValue, "reason": reason,
                    "note":
                        "no push is sent with this key until it is mended and loaded anew (SIGHUP or a restart); the rows wait",
                ])
        }
    }
}
