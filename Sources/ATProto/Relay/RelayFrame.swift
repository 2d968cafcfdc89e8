/// One message of `com.atproto.sync.subscribeRepos`: header and body, with a CAR inside a commit.
public enum RelayFrame {
    public static let maximumSize = 5_000_000
    /// Decodes records only of collections that `keep` contains.
    public static func decode(_ bytes: [UInt8], keep: CollectionFilter) throws(DecodingFailure) -> Event {
        fatalError("stub")
    }
}
