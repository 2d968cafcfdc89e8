import FoundationEssentials
import HookKit
import Storage
import Synchronization

/// Keeps what counts badges until they are counted: SQL as a text in the row, closures in memory. Thread-safe.
final class BadgeClosures: Sendable {
    typealias Closure = @Sendable (any HookDatabase, String) async throws -> Int

    /// Closures kept at most: the newest.
    static let limit = 50_000

    private struct State {
        var next = 0
        var closures: [Int: Closure] = [:]
    }

    private let state = Mutex(State())
    /// Tells this process's closures from those of another.
    private let process = String(UInt64.random(in: .min ... .max), radix: 16)
    private let limit: Int

    init(limit: Int = limit) { self.limit = limit }

    /// How a row names what counts its badge; nil for a number, which is in the payload.
    func stored(_ badge: Notification.Badge) throws(NotificationRefusal) -> String? {
        switch badge {
        case .number: return nil
        case .sql(let sql, let parameters):
            let values = parameters.map { StoredBadge.Value($0.columnValue) }
            guard let bytes = try? JSONEncoder().encode(StoredBadge.sql(sql, values)) else { throw .badgeParameters }
            return String(decoding: bytes, as: UTF8.self)
        case .counted(let closure):
            let number = state.withLock { state in
                state.closures[state.next] = closure
                state.closures[state.next - limit] = nil
                defer { state.next += 1 }
                return state.next
            }
            guard let bytes = try? JSONEncoder().encode(StoredBadge.closure(process: process, number: number)) else {
                throw .badgeParameters
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// nil when it was another process's, or is long gone.
    func closure(process: String, number: Int) -> Closure? {
        process == self.process ? state.withLock { $0.closures[number] } : nil
    }
}

/// What counts a badge, as its row holds it.
enum StoredBadge: Codable {
    case sql(String, [Value])
    case closure(process: String, number: Int)

    enum Value: Codable {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
        case blob([UInt8])

        init(_ value: ColumnValue) {
            switch value {
            case .null: self = .null
            case .integer(let value): self = .integer(value)
            case .real(let value): self = .real(value)
            case .text(let value): self = .text(value)
            case .blob(let value): self = .blob(value)
            }
        }

        var columnValue: ColumnValue {
            switch self {
            case .null: .null
            case .integer(let value): .integer(value)
            case .real(let value): .real(value)
            case .text(let value): .text(value)
            case .blob(let value): .blob(value)
            }
        }
    }

    init(_ text: String) throws {
        self = try JSONDecoder().decode(StoredBadge.self, from: Data(text.utf8))
    }
}
