/// Why a connection could not be made, or ended.
public enum ConnectionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The host's name has no address; with the resolver's words.
    case unresolved(host: String, reason: String)
    /// No address of the host answered; with the last reason.
    case unreachable(Endpoint, reason: String)
    /// A deadline passed; with what was waited for.
    case timedOut(Phase)
    /// The peer ended the connection without being asked.
    case closedByPeer
    /// The socket failed; with the system's words.
    case lost(String)
    /// The peer broke the rules of HTTP/2.
    case protocolViolation(String)
    /// The peer ended the connection with GOAWAY and an error.
    case goAway(errorCode: UInt32, debug: String)
    /// The loop under the connection was stopped.
    case loopStopped

    public enum Phase: String, Sendable, Hashable {
        case connecting = "the connection"
        case handshake = "the TLS handshake and the peer's SETTINGS"
        case ping = "the answer to a PING"
    }

    public var description: String {
        switch self {
        case .unresolved(let host, let reason): "\(host) cannot be resolved: \(reason)"
        case .unreachable(let endpoint, let reason): "\(endpoint) cannot be reached: \(reason)"
        case .timedOut(let phase): "timed out waiting for \(phase.rawValue)"
        case .closedByPeer: "the peer closed the connection"
        case .lost(let reason): "the connection was lost: \(reason)"
        case .protocolViolation(let reason): "the peer broke the rules of HTTP/2: \(reason)"
        case .goAway(let code, let debug): "the peer ended the connection: \(HTTP2.name(ofError: code)) \(debug)"
        case .loopStopped: "the event loop was stopped"
        }
    }
}
