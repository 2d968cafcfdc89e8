import Foundation
import Testing

@testable import Simulators

/// The recordings that the repository ships.
@Suite struct RecordingFileTests {
    private static let firehose = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Firehose")

    /// As Firehose/README.md says that they were made.
    @Test(arguments: [(RecordingFormat.jetstream, "grain-evening.jsonl"), (.frames, "grain-evening.frames")])
    func comeOutTheSameWhenMadeAgain(format: RecordingFormat, name: String) throws {
        let shipped = [UInt8](try Data(contentsOf: Self.firehose.appendingPathComponent(name)))
        var made: [UInt8] = []
        GrainEvening.shipped.write(format) { made += $0 }
        #expect(made == shipped)
        #expect(shipped.count < 1 << 20)
    }

    @Test func isWrittenToAFileWhole() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let evening = GrainEvening(seed: 3, events: 400)
        let written = try evening.write(.jetstream, toFile: path)
        #expect([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) == evening.jetstream())
        #expect(written.events == 400 && written.bytes == evening.jetstream().count)
    }

    @Test(arguments: ["/nowhere/at/all", "/", "/dev/full"]) func saysWhyItCannotBeWritten(path: String) {
        let failure = #expect(throws: RecordingFailure.self) {
            try GrainEvening(seed: 3, events: 5).write(.jetstream, toFile: path)
        }
        #expect(failure?.description.hasPrefix("cannot write \(path): ") == true)
    }
}
