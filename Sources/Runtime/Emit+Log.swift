import FoundationEssentials
import HookKit

extension Emit {
    /// One JSON object a line: `time`, `module`, `op`, and the fields beside them.
    ///
    /// - Parameter write: gets whole lines, each with its newline; called on any thread.
    public static func jsonLines(_ write: @escaping @Sendable (String) -> Void) -> Emit {
        Emit { module, op, fields in
            let time = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            var members: [(String, JSONText)] = [
                ("time", .string(time)), ("module", .string(module)), ("op", .string(op)),
            ]
            for (key, value) in fields {
                // A field must not stand in for one of the line's own.
                let taken = members.contains { $0.0 == key }
                members.append((taken ? key + "_" : key, .string(value)))
            }
            write(JSONText.object(members).text + "\n")
        }
    }
}
