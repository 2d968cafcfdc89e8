import ATProto
import Foundation
import HookKit
import Indexer
import Storage

/// Decode → rows: a recording of creates is replayed into a new database, decoding, hashing and validation included;
/// beside it a bare C-API loop inserts the same rows. Once on tmpfs, once on disk.
struct IndexBenchmark {
    private var events = 100_000
    private var rounds = 5

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            guard let value = rest.popFirst().flatMap({ Int($0) }), value > 0 else {
                throw BareInsertError(message: "\(flag) needs a number")
            }
            switch flag {
            case "--events": events = value
            case "--rounds": rounds = value
            default: throw BareInsertError(message: "unknown flag \(flag)")
            }
        }
    }

    func run() async throws {}
}
