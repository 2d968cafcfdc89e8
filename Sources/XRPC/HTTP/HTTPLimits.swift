/// What one client, and all of them together, may ask of the server.
public struct HTTPLimits: Sendable {
    /// Bytes of a request's body.
    public var maximumBody = 64 << 10
    /// Bytes of a request's target, and of all its headers.
    public var maximumTarget = 4096
    public var maximumHeaders = 12 << 10
    /// Connections at a time, and those of one address. When a further one comes, those that have been idle longest go.
    public var maximumConnections = 4096
    public var maximumConnectionsPerAddress = 1024
    /// How long a connection may lie between requests.
    public var idleTimeout: Duration = .seconds(30)
    /// How long a request may take to arrive, from its first line to the last byte, and an answer to be taken.
    public var transferTimeout: Duration = .seconds(15)
    /// How long an answer may take to be found.
    public var handlerTimeout: Duration = .seconds(15)
    /// Requests of one address: so many at once, and so many a second in the long run. 0 a second: no limit.
    public var requestBurst = 200
    public var requestsPerSecond = 50.0
    /// Addresses whose requests are counted at a time.
    public var maximumAddresses = 50_000
    /// True where a reverse proxy on this machine names the client in the last entry of `X-Forwarded-For`. The header is
    /// heeded on connections from the machine itself alone.
    public var trustsLocalProxy = true
    /// Threads that read and write sockets.
    public var threads = 2

    public init() {}
}
