/// A request over the web: GET, or POST where it has a body.
public struct WebRequest: Sendable {
    public var url: String
    /// Neither name nor value may hold a line break.
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]?

    public init(url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil) {
        self.url = url
        self.headers = headers
        self.body = body
    }
}
