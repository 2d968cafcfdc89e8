/// One request that reached the simulator, and what it was answered.
public struct ReceivedPush: Sendable, Hashable {
    /// 1 for the first request since the start, in order of arrival.
    public var sequence: Int
    /// When it arrived, in milliseconds since 1970.
    public var timeMilliseconds: Int64
    /// 1 for the first connection since the start.
    public var connection: Int
    /// Which try of this `apns-id` it was, from 1.
    public var attempt: Int

    /// The device token as it stood in the path; empty when the path had none.
    public var token: String
    public var topic: String?
    /// The request's `apns-id`, or the one that was made for it.
    public var apnsID: String
    public var pushType: String?
    public var priority: Int?
    /// `apns-expiration`, in seconds since 1970.
    public var expiration: Int64?
    public var collapseID: String?

    /// The body as it came.
    public var payload: [UInt8]
    /// `aps.alert.title`.
    public var title: String?
    /// `aps.alert.body`, or `aps.alert` itself when it is a string.
    public var body: String?
    /// The payload's keys beside `aps`; values that are not strings as compact JSON.
    public var data: [String: String]

    /// The status of the answer, or nil when it got none (refused, reset, or left waiting).
    public var status: Int?
    /// Apple's word for the refusal; nil with status 200. Without a status: what was done instead of an answer.
    public var reason: String?
    /// A hint on what was wrong, in plain words.
    public var detail: String?

    public var isAccepted: Bool { status == 200 }
}

extension ReceivedPush {
    init(sequence: Int, timeMilliseconds: Int64, connection: Int, apnsID: String, payload: [UInt8]) {
        self.sequence = sequence
        self.timeMilliseconds = timeMilliseconds
        self.connection = connection
        attempt = 1
        token = ""
        self.apnsID = apnsID
        self.payload = payload
        data = [:]
    }

    /// Fills title, body and data from the parsed payload.
    mutating func take(_ payload: PayloadValue) {
        let alert = payload["aps"]?["alert"]
        title = alert?["title"]?.string
        body = alert?["body"]?.string ?? alert?.string
        for member in payload.object ?? [] where member.key != "aps" {
            data[member.key] = member.value.string ?? String(decoding: compactJSON(member.value), as: UTF8.self)
        }
    }

    mutating func note(_ status: Int?, _ reason: String, _ detail: String) {
        self.status = status
        self.reason = reason
        self.detail = detail
    }
}

/// Totals since the simulator's start.
public struct APNsCounts: Sendable, Hashable {
    public var connections = 0
    public var requests = 0
    /// Answered 200.
    public var accepted = 0
    /// Answered 200 although the same `apns-id` had been accepted before.
    public var duplicates = 0
    /// Everything else, by reason.
    public var refused: [String: Int] = [:]

    public init() {}
}
