import Net

/// Error codes of RFC 9113, section 7.
private enum ErrorCode {
    static let protocolError: UInt32 = 1
    static let internalError: UInt32 = 2
    static let refusedStream: UInt32 = 7
}

extension APNsGateway {
    /// What is done about a request, and when.
    struct Decision {
        enum Action {
            case accept
            case refuse(Refusal)
            case fault(Faults.Effect)
            /// Not HTTP/2 as the gateway wants it: the end of stream and connection.
            case drop
        }

        var action: Action
        var id: String
        var delay = Duration.zero
        /// It came with a valid provider token.
        var isAuthenticated = false
    }

    /// Carries out a decision when it is due.
    func schedule(_ decision: Decision, on connection: HTTP2ServerConnection, stream: Int32) {
        if decision.delay == .zero { return perform(decision, on: connection, stream: stream) }
        loop.schedule(after: decision.delay) { [weak self] in
            guard connection.isOpen else { return }
            self?.perform(decision, on: connection, stream: stream)
        }
    }

    private func perform(_ decision: Decision, on connection: HTTP2ServerConnection, stream: Int32) {
        switch decision.action {
        case .accept: answer(200, body: [], decision, on: connection, stream: stream)
        case .refuse(let refusal): answer(refusal, decision, on: connection, stream: stream)
        case .fault(let effect): perform(effect, decision, on: connection, stream: stream)
        case .drop:
            connection.reset(stream: stream, errorCode: ErrorCode.protocolError)
            connection.goAway(
                lastStream: stream, errorCode: ErrorCode.protocolError, debug: Self.body(reason: "BadRequest"))
        }
    }

    private func perform(
        _ effect: Faults.Effect, _ decision: Decision, on connection: HTTP2ServerConnection, stream: Int32
    ) {
        switch effect {
        case .answer(let reason):
            let died = reason.status == 410 ? Self.nowMilliseconds : nil
            let refusal = Refusal(reason, "told to", timestampMilliseconds: died)
            answer(refusal, decision, on: connection, stream: stream)
        case .status(let status):
            answer(status, body: Self.body(reason: "Unknown"), decision, on: connection, stream: stream)
        case .refuse: connection.reset(stream: stream, errorCode: ErrorCode.refusedStream)
        case .reset: connection.reset(stream: stream, errorCode: ErrorCode.internalError)
        case .silent: break
        case .freeze: connection.freeze()
        case .abort: connection.abort()
        }
    }

    private func answer(
        _ refusal: Refusal, _ decision: Decision, on connection: HTTP2ServerConnection, stream: Int32
    ) {
        var decision = decision
        // An expired provider token takes the connection back to one stream.
        let isExpired = refusal.reason == .expiredProviderToken
        if isExpired { decision.isAuthenticated = false }
        answer(refusal.reason.status, body: refusal.json, decision, on: connection, stream: stream)
        if isExpired { closeDown(connection) }
    }

    private func answer(
        _ status: Int, body: [UInt8], _ decision: Decision, on connection: HTTP2ServerConnection, stream: Int32
    ) {
        var headers = [HeaderField("apns-id", decision.id)]
        var body = body
        var frameSize = Int.max
        if status != 200 {
            switch plan.faults.errorBody {
            case .json: headers.append(HeaderField("content-type", "application/json; charset=utf-8"))
            case .split:
                headers.append(HeaderField("content-type", "application/json; charset=utf-8"))
                frameSize = 5
            case .empty: body = []
            case .html:
                headers.append(HeaderField("content-type", "text/html"))
                body = Array("<html><body><h1>\(status)</h1></body></html>".utf8)
            }
        }
        if let seconds = plan.faults.retryAfterSeconds, status == 429 || status == 503 {
            headers.append(HeaderField("retry-after", String(seconds)))
        }
        connection.respond(stream: stream, status: status, headers: headers, body: body, dataFrameSize: frameSize)
        if decision.isAuthenticated { openUp(connection) }
    }

    static func body(reason: String) -> [UInt8] {
        compactJSON(.object([.init(key: "reason", value: .string(reason))]))
    }
}

extension APNsGateway {
    /// Allows more streams once a request with a valid provider token was answered.
    private func openUp(_ connection: HTTP2ServerConnection) {
        guard sessions[ObjectIdentifier(connection)]?.isOpen == false else { return }
        sessions[ObjectIdentifier(connection)]?.isOpen = true
        let atFirst = plan.faults.streams.filter { $0.afterRequests == 0 }
        for limit in atFirst.isEmpty ? [.init(Self.usualStreams)] : atFirst { apply(limit, to: connection) }
    }

    /// Back to one stream, as after an expired provider token.
    private func closeDown(_ connection: HTTP2ServerConnection) {
        guard judge.isStrict else { return }
        sessions[ObjectIdentifier(connection)]?.isOpen = false
        connection.setMaxConcurrentStreams(1)
    }

    func limitStreams(of connection: HTTP2ServerConnection, after requests: Int) {
        for limit in plan.faults.streams where limit.afterRequests == requests { apply(limit, to: connection) }
    }

    private func apply(_ limit: Faults.StreamLimit, to connection: HTTP2ServerConnection) {
        if limit.delay == .zero { return connection.setMaxConcurrentStreams(limit.count) }
        loop.schedule(after: limit.delay) { connection.setMaxConcurrentStreams(limit.count) }
    }
}
