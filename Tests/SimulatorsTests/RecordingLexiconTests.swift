import ATProto
import Foundation
import Testing

@testable import Simulators

/// The evenings' records, held against the lexicons that grain's hooks ship with.
@Suite struct RecordingLexiconTests {
    private let lexicons: Lexicons

    init() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Hooks/Lexicons")
        lexicons = Lexicons(
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                .filter { $0.pathExtension == "json" }
                .map { try Lexicon(json: [UInt8](try Data(contentsOf: $0))) })
    }

    @Test func keepTheCollectionsThatTheEveningsDo() {
        let kept = GrainCollection.allCases.filter(\.isKept).map(\.rawValue)
        #expect(Set(lexicons.documents.keys) == Set(kept))
    }

    @Test(arguments: [1, 2, 20_260_704] as [UInt64])
    func refuseTheRecordsThatAreMadeInvalid(seed: UInt64) throws {
        var reasons: Set<Violation.Reason> = []
        for case .commit(let commit) in GrainEvening(seed: seed, events: 1500).scenario.map(\.kind) {
            for op in commit.ops where op.fault == nil || op.fault == .invalid {
                guard let record = op.record else { continue }
                let violation = lexicons.validate(record, as: try NSID(op.collection.rawValue))
                #expect(
                    (violation != nil) == (op.fault == .invalid), "\(op.path): \(violation?.description ?? "valid")")
                if let violation { reasons.insert(violation.reason) }
            }
        }
        #expect(reasons == [.required, .format, .type, .typeMismatch, .null])
    }
}
