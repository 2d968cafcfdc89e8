import FoundationEssentials

/// What a person is to see, and how it is to arrive. Everything but the recipient may be left out, as far as
/// something is left to show.
///
/// What Apple would refuse is refused before it is queued, and reported through `emit`.
/// Source: developer.apple.com/documentation/usernotifications/generating-a-remote-notification
public struct Notification: Sendable {
    /// The recipient's DID. Their settings decide whether the notification is queued.
    public var did: String
    /// Cut at a grapheme, after the body, where the payload would grow beyond 4096 bytes.
    public var title: String
    public var subtitle: String?
    /// Cut at a grapheme where the payload would grow beyond 4096 bytes.
    public var body: String
    /// Top-level keys of the payload beside `aps`, sent as they are. But in a replay, the payload also names its
    /// recipient: as `did`, or as `recipient` where there is a `did` in here. `type` is what the recipient may have turned off.
    public var data: [String: String]

    /// The same identifier reaches each device of a person once within `retention.push`, whatever the event, hook or
    /// rev: for "this mention was announced already". Without one, a redelivered event is what counts as the same.
    public var dedupeID: String?
    /// Notifications with the same identifier replace each other on the device: at most 64 bytes of UTF-8.
    public var collapseID: String?
    /// Groups notifications on the device.
    public var threadID: String?
    public var sound: Sound = .default
    /// The number on the app's icon; nil leaves it as it is.
    public var badge: Badge?
    /// The name of a set of actions that the app has registered.
    public var category: String?
    /// nil: `.immediate` for an alert, `.considerate` for a background push.
    public var priority: Priority?
    /// nil: as long as the configuration's `push.lifetime`.
    public var expiration: Expiration?
    /// Lets the app's service extension change the notification before it is shown.
    public var mutableContent = false
    /// Wakes the app in the background beside showing the notification. A background push always does.
    public var contentAvailable = false
    public var interruptionLevel: InterruptionLevel?
    /// From 0 to 1: what a summary of notifications features.
    public var relevanceScore: Double?

    /// A key of the app's localised strings, shown instead of `title` and formatted with `titleLocArgs`.
    public var titleLocKey: String?
    public var titleLocArgs: [String] = []
    public var subtitleLocKey: String?
    public var subtitleLocArgs: [String] = []
    /// The same for `body`.
    public var locKey: String?
    public var locArgs: [String] = []

    /// Wakes the app in the background and shows nothing. `background` makes one.
    public var isBackground = false

    public init(
        did: String, title: String = "", body: String = "", data: [String: String] = [:], collapseID: String? = nil
    ) {
        self.did = did
        self.title = title
        self.body = body
        self.data = data
        self.collapseID = collapseID
    }

    /// A background push: content-available, without alert, sound or badge, of priority 5.
    public static func background(did: String, data: [String: String] = [:]) -> Notification {
        var notification = Notification(did: did, data: data)
        notification.isBackground = true
        return notification
    }
}

extension Notification {
    public enum Sound: Sendable, Hashable {
        case `default`
        case none
        /// A sound file of the app's.
        case named(String)
        /// Sounds through silence; the app needs Apple's leave for it. `volume` is from 0 to 1.
        case critical(named: String = "default", volume: Double = 1)
    }

    /// The number on the app's icon. What is counted is counted at the moment of sending, not of queueing; when that
    /// fails, the notification goes out without a badge, and the failure is reported.
    public enum Badge: Sendable {
        case number(Int)
        /// One reading statement, whose first column of the first row is the number. `$1`, … stand for the parameters.
        case sql(String, [any SQLValue] = [])
        /// Called with the database and the recipient's DID; it has five seconds.
        ///
        /// A closure cannot outlive the process: rows that an earlier process left are sent without a badge, and so are
        /// those of more than 50,000 notifications back. SQL has neither limit.
        case counted(@Sendable (_ db: any HookDatabase, _ did: String) async throws -> Int)
    }

    public enum Priority: Int, Sendable, Hashable {
        /// At once.
        case immediate = 10
        /// When the device's battery allows.
        case considerate = 5
        /// The battery comes first, and the device is not woken.
        case low = 1
    }

    /// When a notification has lost its use: it is not sent, nor kept by Apple, beyond that.
    public enum Expiration: Sendable, Hashable {
        case after(Duration)
        case at(Date)
        /// Apple tries once and keeps nothing for a device that is out of reach.
        case once
    }

    public enum InterruptionLevel: String, Sendable, Hashable {
        case passive, active
        case timeSensitive = "time-sensitive"
        case critical
    }
}
