import Glibc
import Synchronization

/// Where the simulator writes a JSON line for each request.
///
/// Keys: `seq`, `time` (milliseconds since 1970), `connection`, `attempt`, `token`, `topic`, `apnsId`, `pushType`, `priority`,
/// `expiration`, `collapseId`, `payload`, `status`, `reason`, `detail`; those without a value are left out.
public struct APNsLog: Sendable {
    /// Gets whole lines, each with its newline, from one thread at a time.
    public var write: @Sendable ([UInt8]) -> Void
    /// Whole device tokens; otherwise their last 8 characters.
    public var showsTokens: Bool

    public init(showsTokens: Bool = false, write: @escaping @Sendable ([UInt8]) -> Void) {
        self.write = write
        self.showsTokens = showsTokens
    }

    /// Appends to a file, which is made when absent and readable by its owner alone.
    public static func file(_ path: String, showsTokens: Bool = false) throws -> APNsLog {
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileFailure(path, errno) }
        let descriptor = Descriptor(file)
        return APNsLog(showsTokens: showsTokens) { descriptor.write($0) }
    }

    /// Standard output.
    public static func standardOutput(showsTokens: Bool = false) -> APNsLog {
        APNsLog(showsTokens: showsTokens) { Descriptor.writeAll($0, to: STDOUT_FILENO) }
    }

    private final class Descriptor: Sendable {
        private let file: Int32
        init(_ file: Int32) { self.file = file }
        deinit { close(file) }
        func write(_ bytes: [UInt8]) { Self.writeAll(bytes, to: file) }

        /// A line that cannot be written is lost: the simulator's answers matter more than its log.
        static func writeAll(_ bytes: [UInt8], to file: Int32) {
            bytes.withUnsafeBytes { buffer in
                var rest = buffer[...]
                while !rest.isEmpty {
                    let count = Glibc.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                    if count < 0 && errno != EINTR { return }
                    rest = rest.dropFirst(max(count, 0))
                }
            }
        }
    }
}

extension APNsLog {
    func note(_ push: ReceivedPush, payload: PayloadValue?) {
        var members: [PayloadValue.Member] = []
        func add(_ key: String, _ value: PayloadValue?) {
            if let value { members.append(.init(key: key, value: value)) }
        }
        add("seq", .integer(Int64(push.sequence)))
        add("time", .integer(push.timeMilliseconds))
        add("connection", .integer(Int64(push.connection)))
        add("attempt", .integer(Int64(push.attempt)))
        add("token", .string(showsTokens ? push.token : Self.redacted(push.token)))
        add("topic", push.topic.map(PayloadValue.string))
        add("apnsId", .string(push.apnsID))
        add("pushType", push.pushType.map(PayloadValue.string))
        add("priority", push.priority.map { .integer(Int64($0)) })
        add("expiration", push.expiration.map(PayloadValue.integer))
        add("collapseId", push.collapseID.map(PayloadValue.string))
        add("payload", payload ?? .string("\(push.payload.count) bytes"))
        add("status", push.status.map { .integer(Int64($0)) })
        add("reason", push.reason.map(PayloadValue.string))
        add("detail", push.detail.map(PayloadValue.string))
        write(compactJSON(.object(members)) + [UInt8(ascii: "\n")])
    }

    /// The last 8 characters; nothing of a token that is hardly longer.
    static func redacted(_ token: String) -> String {
        token.utf8.count < 16 ? "…" : "…" + token.suffix(8)
    }
}

/// A file that could not be opened or written.
public struct FileFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public var description: String

    init(_ description: String) { self.description = description }

    init(_ path: String, _ code: Int32) { description = "\(path): \(String(cString: strerror(code)))" }
}
