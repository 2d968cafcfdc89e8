import CLinux
import Glibc

/// Threads of the operating system's own, for work that blocks: a loop's waiting, a name's resolution.
enum OSThread {
    /// Starts a thread that runs `body` and ends; to be joined or detached by the caller.
    ///
    /// `name` is cut to the 15 bytes that Linux keeps. Throws `SystemError` when there are no threads left.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) throws -> pthread_t {
        let box = Unmanaged.passRetained(Start(name: String(decoding: name.utf8.prefix(15), as: UTF8.self), body: body))
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, runThread, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw SystemError(call: "pthread_create", code: code)
        }
        return thread
    }
}

private final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
    pthread_setname_np(pthread_self(), start.name)
    start.body()
    return nil
}
