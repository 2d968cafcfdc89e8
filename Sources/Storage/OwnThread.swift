import CSQLite

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A thread that runs one closure, which may block: it takes no place in Swift's pool.
final class OwnThread: @unchecked Sendable {
    // Written before the initialiser returns, then only read.
    private var handle = pthread_t()

    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    init(_ run: @escaping @Sendable () -> Void) throws(StorageError) {
        let body = Unmanaged.passRetained(Body(run))
        let code = pthread_create(
            &handle, nil,
            { context in
                if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, body.toOpaque())
        guard code == 0 else {
            body.release()
            throw StorageError(code: SQLITE_ERROR, message: "no thread: \(String(cString: strerror(code)))")
        }
    }

    /// Whether the caller runs on this thread.
    var isCurrent: Bool { pthread_equal(pthread_self(), handle) != 0 }

    /// Waits for the closure's end, unless it is the caller itself. To be called once.
    func join() {
        if isCurrent { pthread_detach(handle) } else { pthread_join(handle, nil) }
    }
}
