/// One request at a server, and its answer.
///
/// Lives in memory of its own, so that nghttp2 can hold on to its address.
struct ServerStream {
    var id: Int32 = 0
    var headers: [HeaderField] = []
    var headerBytes = 0
    var body: [UInt8] = []
    /// The body has outgrown what the server takes; answered with 413.
    var isTooLarge = false

    /// It has its answer, which nghttp2 may be reading.
    var isAnswered = false
    var answer: [UInt8] = []
    var answerOffset = 0
    /// The most that one DATA frame of the answer holds.
    var dataFrameSize = Int.max
}
