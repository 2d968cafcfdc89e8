/// One request and what has come of its answer.
///
/// Lives in memory of its own, so that nghttp2 can hold on to its address, and is used again for later requests.
struct ClientStream {
    enum Headers {
        case none
        case fields([HeaderField])
        /// With what `own` holds.
        case prepared(PreparedHeaders)
    }

    /// 0 until nghttp2 has the request.
    var id: Int32 = 0
    var headers = Headers.none
    /// Header fields of this request alone.
    var own = FieldLiterals()
    var body: [UInt8] = []
    var bodyOffset = 0
    /// Nil once the request has its result.
    var requester: (any HTTP2Requester)?

    var deadline = MonotonicTime(nanoseconds: 0)
    /// Neighbours in the list of streams by deadline.
    var previous: UnsafeMutablePointer<ClientStream>?
    var next: UnsafeMutablePointer<ClientStream>?

    var status = 0
    var answerHeaders: [HeaderField] = []
    var answerHeaderBytes = 0
    /// The answer's header block has come: its status is known, whatever happens to its body.
    var hasStatus = false
    var isInTrailers = false
    var answerBody: [UInt8] = []
    /// The answer's END_STREAM has come.
    var isAnswered = false

    /// As new, but for memory that the next request can use.
    mutating func reset() {
        var own = FieldLiterals()
        swap(&own, &self.own)
        own.removeAll()
        self = ClientStream()
        swap(&own, &self.own)
    }
}

/// Streams without a result, by deadline. Confined to their session.
///
/// Nearly all requests have the same timeout, so that a new one nearly always goes to the end.
struct DeadlineList {
    private(set) var first: UnsafeMutablePointer<ClientStream>?
    private var last: UnsafeMutablePointer<ClientStream>?

    mutating func insert(_ stream: UnsafeMutablePointer<ClientStream>) {
        var before = last
        while let candidate = before, stream.pointee.deadline < candidate.pointee.deadline {
            before = candidate.pointee.previous
        }
        let after = before == nil ? first : before?.pointee.next
        stream.pointee.previous = before
        stream.pointee.next = after
        if let before { before.pointee.next = stream } else { first = stream }
        if let after { after.pointee.previous = stream } else { last = stream }
    }

    mutating func remove(_ stream: UnsafeMutablePointer<ClientStream>) {
        let (before, after) = (stream.pointee.previous, stream.pointee.next)
        if let before { before.pointee.next = after } else { first = after }
        if let after { after.pointee.previous = before } else { last = before }
        stream.pointee.previous = nil
        stream.pointee.next = nil
    }
}
