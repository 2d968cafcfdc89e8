/// The memory of a session's streams: those in use, and those to be used again.
struct ClientStreams: ~Copyable {
    typealias Stream = UnsafeMutablePointer<ClientStream>

    var byDeadline = DeadlineList()
    private var all: [Stream] = []
    private var free: [Stream] = []

    deinit {
        for stream in all {
            stream.deinitialize(count: 1)
            stream.deallocate()
        }
    }

    mutating func take() -> Stream {
        if let stream = free.popLast() { return stream }
        let stream = Stream.allocate(capacity: 1)
        stream.initialize(to: ClientStream())
        all.append(stream)
        return stream
    }

    /// For a stream that has its result and that nghttp2 does not know, or no more.
    mutating func release(_ stream: Stream) {
        stream.pointee.reset()
        free.append(stream)
    }
}
