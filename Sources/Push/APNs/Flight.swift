import Net
import Storage

/// One claimed row on its way through the connections. Confined to the loop.
final class Flight {
    let push: QueuedPush
    let topic: String
    /// The topic is the token's, not the configuration's.
    let hasOwnTopic: Bool
    /// Where it is tried now.
    var environment: APNsEnvironment
    /// Where its token is registered.
    let home: APNsEnvironment
    /// Where its last request went.
    var lane: APNsLane?
    /// When its last request went out, in milliseconds since 1970.
    var sentAt: Int64 = 0
    /// The provider token that its last request carried.
    var generation = 0
    /// Connections lost with it in flight.
    var losses = 0
    /// Answers that did not come in time.
    var timeouts = 0
    /// Streams in a row that were surely not processed, and how many answers its pool had seen at the latest.
    var refusals = 0
    var answersAtRefusal = -1
    /// Sent again because of an expired provider token.
    var isRefreshed = false

    init(_ push: QueuedPush, bundleID: String, environment: APNsEnvironment) {
        self.push = push
        topic = push.device.topic ?? bundleID
        hasOwnTopic = topic != bundleID
        self.environment = environment
        home = environment
    }

    /// It may have been delivered already.
    var isAmbiguous: Bool { losses > 0 || timeouts > 0 }
}

extension Flight: HTTP2Requester {
    func requestEnded(_ result: Result<HTTP2Response, StreamFailure>) {
        guard let lane else { return }
        self.lane = nil
        lane.pool.ended(self, on: lane, result)
    }
}

/// First in, first out.
struct FlightQueue {
    private var flights: [Flight?] = []
    private var head = 0

    var count: Int { flights.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ flight: Flight) { flights.append(flight) }

    mutating func popFirst() -> Flight? {
        guard head < flights.count else { return nil }
        defer {
            flights[head] = nil
            head += 1
            if head == flights.count {
                flights.removeAll(keepingCapacity: true)
                head = 0
            } else if head >= 1024, head * 2 >= flights.count {
                flights.removeFirst(head)
                head = 0
            }
        }
        return flights[head]
    }

    mutating func removeAll(where condition: (Flight) -> Bool = { _ in true }) -> [Flight] {
        let all = flights[head...].compactMap { $0 }
        flights = all.filter { !condition($0) }
        head = 0
        return all.filter(condition)
    }
}
