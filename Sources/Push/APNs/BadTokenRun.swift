/// Tells a dead token from a wrong key or environment: the latter makes every token bad (promise 5).
///
/// A token that Apple calls bad is held back until its neighbours speak:
/// - a success says that key and environment are right: all that is held back is dead indeed, and the run is over;
/// - `limit` distinct bad tokens in a row say that they are wrong: the key stops, and no token that is held is removed;
/// - when nothing else is left to send, what is held back is taken for dead, but the run goes on.
///
/// Before the first success since the start the limit is the lower one: a gateway that has never taken a token is the
/// likelier suspect than one that took thousands. One per environment; `Held` is what waits for the verdict.
struct BadTokenRun<Held> {
    private let limitBeforeSuccess: Int
    private let limitSinceSuccess: Int
    private var hasSucceeded = false
    private var run: Set<Int64> = []
    private var heldTokens: Set<Int64> = []
    private(set) var held: [Held] = []

    init(limitBeforeSuccess: Int, limitSinceSuccess: Int) {
        self.limitBeforeSuccess = limitBeforeSuccess
        self.limitSinceSuccess = limitSinceSuccess
    }

    func holds(token: Int64) -> Bool { heldTokens.contains(token) }

    /// Holds back one row of a bad token. True when the run is too long: stop the key and take back what is held.
    mutating func bad(token: Int64, _ row: Held) -> Bool {
        run.insert(token)
        heldTokens.insert(token)
        held.append(row)
        return run.count >= (hasSucceeded ? limitSinceSuccess : limitBeforeSuccess)
    }

    mutating func succeeded() {
        hasSucceeded = true
        if !run.isEmpty { run = [] }
    }

    /// Hands over what was held back.
    mutating func release() -> [Held] {
        defer { held = [] }
        heldTokens = []
        return held
    }
}
