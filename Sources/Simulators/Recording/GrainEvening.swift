import ATProto

/// An invented evening of grain, a photo-sharing app, as a firehose tells it: people post galleries and stories,
/// favorite, comment, reply, follow, edit and delete, and the network does what networks do.
///
/// Everything follows from the seed, to the byte, on every machine. Both forms tell the same evening.
public struct GrainEvening: Sendable {
    public let seed: UInt64
    /// How many events it has: commits, identity and account events, redelivered and unreadable ones.
    public let events: Int
    /// True for creates alone, each in a commit of its own, with nothing wrong: for measuring.
    public let plain: Bool
    private let cast: EveningCast

    /// - Parameter people: how many take part; a twelfth of the events, at least 8, by default.
    public init(seed: UInt64, people: Int? = nil, events: Int, plain: Bool = false) {
        self.seed = seed
        self.events = max(events, 0)
        self.plain = plain
        cast = EveningCast(seed: seed, people: max(people ?? max(events / 12, 8), 2), plain: plain)
    }

    /// The evening that `Firehose/` holds in both forms.
    public static let shipped = GrainEvening(seed: 20_260_704, events: 500)

    public var people: [EveningPerson] { cast.people }
    public var dids: [String] { cast.people.map(\.did) }
    /// Devices to register before the evening is replayed, and which of them the push service shall call dead.
    public var devices: [EveningDevice] { cast.devices }
    /// What must come of it.
    public var expectations: EveningExpectations { EveningExpectations(scenario) }
    /// The pushes on those of `devices` that are alive.
    public func expectedPushes(on devices: [EveningDevice]) -> [ExpectedDelivery] {
        expectations.deliveries(to: devices)
    }

    /// The whole recording as Jetstream lines.
    public func jetstream() -> [UInt8] { bytes(.jetstream) }
    /// The whole recording as relay frames, each behind its length.
    public func frames() -> [UInt8] { bytes(.frames) }

    private func bytes(_ format: RecordingFormat) -> [UInt8] {
        var all: [UInt8] = []
        write(format) { all += $0 }
        return all
    }

    /// Writes the recording piece by piece; memory stays bounded by the people and what they keep.
    /// - Parameter sink: gets pieces of some 64 KiB.
    public func write<Failure: Error>(
        _ format: RecordingFormat, to sink: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        var form: any EveningForm =
            switch format {
            case .jetstream: JetstreamForm(cast: cast, plain: plain)
            case .frames: FrameForm(cast: cast, plain: plain)
            }
        let pieceSize = 65_536
        var piece: [UInt8] = []
        piece.reserveCapacity(pieceSize + 16_384)
        for event in scenario {
            form.append(event, to: &piece)
            if piece.count >= pieceSize {
                try sink(piece)
                piece.removeAll(keepingCapacity: true)
            }
        }
        if !piece.isEmpty { try sink(piece) }
    }

    var scenario: EveningScenario { EveningScenario(seed: seed, cast: cast, events: events, plain: plain) }
}

/// How a recording is written.
public enum RecordingFormat: String, Sendable, CaseIterable {
    /// Jetstream v1 JSON, an event a line.
    case jetstream
    /// Relay frames, each behind its length as an unsigned 32-bit little-endian number.
    case frames
}

/// A way to write the evening down. Keeps what it needs to deliver an event again.
protocol EveningForm {
    mutating func append(_ event: EveningEvent, to output: inout [UInt8])
}
