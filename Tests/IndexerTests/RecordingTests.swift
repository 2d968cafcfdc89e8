import Foundation
import TestSupport
import Testing

@testable import Indexer

@Suite struct RecordingTests {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func items(_ bytes: some Sequence<UInt8>) throws -> (RecordingFormat, [Recording.Item]) {
        let recording = try Recording(path: try scratch.file("recording", bytes))
        var items: [Recording.Item] = []
        while let item = try recording.next() { items.append(item) }
        #expect(recording.bytesRead == recording.bytesTotal)
        return (recording.format, items)
    }

    private func texts(_ items: [Recording.Item]) -> [String] {
        items.map { item in
            switch item {
            case .message(let bytes, let position):
                "\(position.index):" + String(decoding: bytes.prefix(99), as: UTF8.self)
            case .unreadable(_, let position): "\(position.index):unreadable"
            }
        }
    }

    private func prefixed(_ frame: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: UInt32(frame.count).littleEndian) { Array($0) } + frame
    }

    /// `{"t": "#info", "op": 1}` and `{"name": "…"}`, as a relay writes them.
    private func frame(_ name: String) -> [UInt8] {
        [0xA2, 0x61] + Array("t".utf8) + [0x65] + Array("#info".utf8) + [0x62] + Array("op".utf8) + [0x01]
            + [0xA1, 0x64] + Array("name".utf8) + [0x60 + UInt8(name.utf8.count)] + Array(name.utf8)
    }

    @Test func linesKeepTheirNumbersAndBlankOnesAreNoEvents() throws {
        let (format, items) = try items("{\"a\":1}\n\n  \t\r\nbroken\n{\"b\":2}".utf8)
        #expect(format == .jetstream)
        #expect(texts(items) == ["1:{\"a\":1}", "4:broken", "5:{\"b\":2}"])
    }

    /// Looking for its end moves what the window holds, or takes larger memory for it.
    @Test(arguments: [1, 5, 4_000, 5_000, 1 << 20, 3_000_000])
    func theLastLineNeedsNoNewline(_ digits: Int) throws {
        var last = Array("{\"n\":\"".utf8)
        for index in 0..<digits { last.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: (index / 7 + index) % 10)) }
        last += "\"}".utf8
        let (_, items) = try items(Array("{}\n".utf8) + last)
        #expect(items.count == 2)
        guard case .message(let line, let position)? = items.last else { return #expect(Bool(false), "no line") }
        #expect(line == last)
        #expect(position.index == 2)
        #expect(position.byteOffset == 3)
    }

    @Test func aBrokenFirstLineDoesNotHideTheFormat() throws {
        let (format, items) = try items("no json at all\n{\"a\":1}\n".utf8)
        #expect(format == .jetstream)
        #expect(items.count == 2)
    }

    @Test func aLaterLineOfBytesDoesNotHideTheFormat() throws {
        let (format, items) = try items(Array("{\"a\":1}\n".utf8) + [0, 255, 10] + Array("{\"b\":1}\n".utf8))
        #expect(format == .jetstream)
        #expect(items.count == 3)
    }

    @Test func aLineBeyondTheLimitIsPassedOver() throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 6_000_000)
        let (_, items) = try items(Array("{}\n".utf8) + long + Array("\n{}".utf8))
        #expect(texts(items) == ["1:{}", "2:unreadable", "3:{}"])
    }

    @Test func framesBehindTheirLengths() throws {
        let frames = [frame("one"), frame("two"), [UInt8](repeating: 7, count: 300_000)]
        let (format, items) = try items(frames.flatMap(prefixed))
        #expect(format == .framesWithLength)
        let read = items.map { item -> [UInt8] in if case .message(let bytes, _) = item { bytes } else { [] } }
        #expect(read == frames)
    }

    @Test(arguments: [1, 3, 4, 10]) func aTruncatedEndIsReported(cut: Int) throws {
        let (_, items) = try items(prefixed(frame("one")) + prefixed(frame("two")).prefix(cut))
        #expect(texts(items).last == "2:unreadable")
        #expect(items.count == 2)
    }

    @Test func aFrameOverTheLimitIsPassedOver() throws {
        let large = [UInt8](repeating: 0, count: 5_000_001)
        let (_, items) = try items(prefixed(frame("one")) + prefixed(large) + prefixed(frame("two")))
        #expect(texts(items)[1] == "2:unreadable")
        #expect(items.count == 3)
    }

    @Test func framesWithoutBytesAreReportedTogether() throws {
        let (_, items) = try items(
            prefixed(frame("one")) + [UInt8](repeating: 0, count: 4_000_000) + prefixed(frame("two")))
        #expect(items.count == 3)
        #expect(texts(items)[1] == "2:unreadable")
        #expect(texts(items)[2].hasPrefix("1000002:"))
    }

    @Test func aByteOrderMarkIsNoPartOfTheFirstLine() throws {
        let (format, items) = try items([0xEF, 0xBB, 0xBF] + Array("{\"a\":1}\n{\"b\":2}".utf8))
        #expect(format == .jetstream)
        #expect(texts(items) == ["1:{\"a\":1}", "2:{\"b\":2}"])
    }

    @Test func bareFramesAreSplitAndFoundAgainAfterGarbage() throws {
        let one = frame("one")
        let two = frame("two")
        let (format, items) = try items(one + [0xFF, 0x00, 0xA2] + two + one)
        #expect(format == .bareFrames)
        let read = items.map { item -> [UInt8] in if case .message(let bytes, _) = item { bytes } else { [] } }
        #expect(read == [one, [], two, one])
    }

    @Test(
        arguments: [
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A],
            Array("just some words\n".utf8),
            [0xFF, 0xFF, 0xFF, 0xFF, 0x00],
            [UInt8](repeating: 0, count: 10_000),
        ] as [[UInt8]])
    func otherFilesAreRefused(bytes: [UInt8]) throws {
        let path = try scratch.file("other", bytes)
        #expect(throws: RecordingError.self) { try Recording(path: path) }
    }

    @Test func aMissingFileIsRefusedByName() throws {
        let error = #expect(throws: RecordingError.self) { try Recording(path: scratch.path + "/missing") }
        #expect(error?.description.contains("missing: no such file or directory") == true)
    }

    @Test func anEmptyFileHasNoEvents() throws {
        let (_, items) = try items([])
        #expect(items.isEmpty)
    }
}
