/// Who has asked for something over HTTP/2, and gets the answer.
public protocol HTTP2Requester: AnyObject {
    /// The request's result: an answer that may have come in part, or why there is none. Called on the connection's loop.
    func requestEnded(_ result: Result<HTTP2Response, StreamFailure>)
}

/// Hands the result to a closure.
final class CompletionRequester: HTTP2Requester {
    private let completion: (Result<HTTP2Response, StreamFailure>) -> Void

    init(_ completion: @escaping (Result<HTTP2Response, StreamFailure>) -> Void) { self.completion = completion }

    func requestEnded(_ result: Result<HTTP2Response, StreamFailure>) { completion(result) }
}
