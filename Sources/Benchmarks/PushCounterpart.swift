import COpenSSL
import Glibc
import Synchronization

/// The other end of the push benchmark, in a process of its own: TLS, ALPN `h2`, and HTTP/2 that answers every request
/// with 200 and an `apns-id`.
///
/// It reads frames alone, so that the client decides the rate; or it decodes and checks header fields as well, as a
/// gateway must. It ends when its standard input does. On standard output it says its port, and a line for each
/// connection that has ended, which `CounterpartReport` reads.
struct PushCounterpart {
    static let command = "push-counterpart"

    struct Options: Sendable {
        var certificate = ""
        var key = ""
        /// Milliseconds from a request's end to its answer.
        var delay: UInt64 = 0
        /// Bytes that may be on their way to us on a connection.
        var window = 16 << 20
        /// Streams that a client may have open at once.
        var streams: UInt32 = 1000
        /// Decodes header fields, and refuses what is no push.
        var decodes = false
        /// Bodies carry a number to be looked at.
        var readsStamps = false
    }

    private var options = Options()

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let flag = rest.popFirst(), let value = rest.popFirst() {
            switch flag {
            case "--certificate": options.certificate = value
            case "--key": options.key = value
            case "--delay": options.delay = UInt64(value) ?? 0
            case "--window": options.window = max(65_535, Int(value) ?? 0)
            case "--decodes": options.decodes = value == "yes"
            case "--stamps": options.readsStamps = value == "yes"
            default: throw BenchmarkError("the counterpart does not know \(flag)")
            }
        }
    }

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let context = try Self.context(options)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(listener, generic, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, generic, &length) == 0
            }
        }
        guard isListening else { throw BenchmarkError("the counterpart cannot listen: errno \(errno)") }
        say("port \(UInt16(bigEndian: address.sin_port))")
        let options = options
        startThread {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { continue }
                startThread { CounterpartConnection(client, context.handle, options)?.serve() }
            }
        }
        var byte: UInt8 = 0
        while read(0, &byte, 1) > 0 {}
    }

    /// Shared by all connections and never freed. OpenSSL counts its users itself.
    private struct Context: @unchecked Sendable { let handle: OpaquePointer }

    private static func context(_ options: Options) throws -> Context {
        guard let handle = SSL_CTX_new(TLS_server_method()),
            SSL_CTX_use_certificate_chain_file(handle, options.certificate) == 1,
            SSL_CTX_use_PrivateKey_file(handle, options.key, SSL_FILETYPE_PEM) == 1
        else { throw BenchmarkError("the counterpart cannot use its certificate") }
        SSL_CTX_set_alpn_select_cb(
            handle,
            { _, selected, length, offered, offeredLength, _ in
                var list = UnsafeBufferPointer(start: offered, count: Int(offeredLength))[...]
                while let size = list.first, list.count > Int(size) {
                    let name = list.dropFirst().prefix(Int(size))
                    if name.elementsEqual("h2".utf8) {
                        selected?.pointee = offered.map { $0 + name.startIndex }
                        length?.pointee = size
                        return SSL_TLSEXT_ERR_OK
                    }
                    list = list.dropFirst(1 + Int(size))
                }
                return SSL_TLSEXT_ERR_ALERT_FATAL
            }, nil)
        return Context(handle: handle)
    }
}

/// Runs `body` on a detached thread.
func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body))
    let code = pthread_create(
        &thread, nil,
        { argument in
            if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
            return nil
        }, box.toOpaque())
    if code == 0 { pthread_detach(thread) } else { box.release() }
}
