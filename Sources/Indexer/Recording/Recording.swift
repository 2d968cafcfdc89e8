import ATProto

/// A file of recorded events, read front to back. Confined to one thread at a time.
public final class Recording {
    public let path: String
    public let format: RecordingFormat
    private let window: FileWindow
    /// Messages handed out so far, unreadable ones included; blank lines count as lines.
    private var index = 0

    /// Some editors put it before a text.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Opens the file and tells its format by its content. An empty file is a recording without events.
    public init(path: String) throws(RecordingError) {
        self.path = path
        window = try FileWindow(path: path)
        guard try window.fill(4096) > 0 else {
            format = .jetstream
            return
        }
        if window.bytes.starts(with: Self.byteOrderMark) { window.consume(Self.byteOrderMark.count) }
        guard let format = RecordingFormat(head: UnsafeRawBufferPointer(rebasing: window.bytes.prefix(4096))) else {
            throw RecordingError(
                path: path, message: "is no recording: neither Jetstream lines, relay frames nor a repo export (CAR)")
        }
        self.format = format
    }

    public var bytesTotal: Int64 { window.size }
    public var bytesRead: Int64 { window.offset }

    /// What stands next in the file.
    enum Item {
        case message([UInt8], at: Position)
        /// Bytes that cannot be a message; the reader has gone past them.
        case unreadable(String, at: Position)
    }

    struct Position: CustomStringConvertible {
        /// `line` or `frame`.
        var unit: String
        /// From 1.
        var index: Int
        var byteOffset: Int64

        var description: String { "\(unit) \(index) (byte \(byteOffset))" }
    }

    /// The next message; nil at the end.
    func next() throws(RecordingError) -> Item? {
        switch format {
        case .jetstream: try nextLine()
        case .framesWithLength: try nextFrame()
        case .bareFrames: try nextBareFrame()
        case .repoExport: try nextExport()
        }
    }

    private func position(_ unit: String) -> Position {
        index += 1
        return Position(unit: unit, index: index, byteOffset: window.offset)
    }

    // MARK: Lines

    private func nextLine() throws(RecordingError) -> Item? {
        while let line = try takeLine() {
            switch line {
            case .message(let bytes, _) where bytes.allSatisfy(Self.isBlank): continue
            default: return line
            }
        }
        return nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

    private func takeLine() throws(RecordingError) -> Item? {
        var searched = 0
        while true {
            let bytes = window.bytes
            if let newline = bytes[searched...].firstIndex(of: 0x0A) {
                if newline > RelayFrame.maximumSize { return try skipLongLine() }
                let place = position("line")
                let line = [UInt8](bytes[..<newline])
                window.consume(newline + 1)
                return .message(line, at: place)
            }
            searched = bytes.count
            if searched > RelayFrame.maximumSize { return try skipLongLine() }
            if try window.fill(searched + 1) == searched {
                guard searched > 0 else { return nil }
                let place = position("line")
                // Taken afresh: filling may have moved the window.
                let line = [UInt8](window.bytes)
                window.consume(searched)
                return .message(line, at: place)
            }
        }
    }

    private func skipLongLine() throws(RecordingError) -> Item {
        let place = position("line")
        while try window.fill(1) > 0 {
            let bytes = window.bytes
            if let newline = bytes.firstIndex(of: 0x0A) {
                window.consume(newline + 1)
                break
            }
            window.consume(bytes.count)
        }
        return .unreadable("longer than \(RelayFrame.maximumSize) bytes", at: place)
    }

    // MARK: Frames

    private func nextFrame() throws(RecordingError) -> Item? {
        let held = try window.fill(4)
        guard held > 0 else { return nil }
        let place = position("frame")
        guard held >= 4 else {
            window.consume(held)
            return .unreadable("the file ends inside a length", at: place)
        }
        let length = RecordingFormat.length(window.bytes)
        window.consume(4)
        guard length > 0 else { return .unreadable(try skipEmptyFrames(), at: place) }
        guard length <= RelayFrame.maximumSize else {
            let whole = try window.skip(length)
            let ending = whole ? "" : "; the file ends before it does"
            return .unreadable("a frame of \(length) bytes is over \(RelayFrame.maximumSize)\(ending)", at: place)
        }
        let available = try window.fill(length)
        guard available >= length else {
            window.consume(available)
            return .unreadable("the file ends inside a frame", at: place)
        }
        let frame = [UInt8](window.bytes.prefix(length))
        window.consume(length)
        return .message(frame, at: place)
    }

    /// Goes past further frames without bytes: a hole in a file is reported once, not for every four bytes of it.
    private func skipEmptyFrames() throws(RecordingError) -> String {
        var count = 1
        while try window.fill(4) >= 4, RecordingFormat.length(window.bytes) == 0 {
            window.consume(4)
            count += 1
        }
        index += count - 1
        return count == 1 ? "an empty frame" : "\(count) empty frames"
    }

    private func nextBareFrame() throws(RecordingError) -> Item? {
        guard try window.fill(1) > 0 else { return nil }
        let place = position("frame")
        if let length = try bareFrameLength() {
            let frame = [UInt8](window.bytes.prefix(length))
            window.consume(length)
            return .message(frame, at: place)
        }
        try skipToFrameHeader()
        return .unreadable("no frame starts here; went on at byte \(window.offset)", at: place)
    }

    /// The length of the two CBOR items at the window's start, filling it as far as they reach.
    private func bareFrameLength() throws(RecordingError) -> Int? {
        var wanted = 64 << 10
        while true {
            let held = try window.fill(wanted)
            let bytes = UnsafeRawBufferPointer(rebasing: window.bytes.prefix(wanted))
            if RecordingFormat.isFrameHeader(bytes),
                let header = try? DAGCBOR.itemLength(in: bytes.bindMemory(to: UInt8.self), at: 0),
                let body = try? DAGCBOR.itemLength(in: bytes.bindMemory(to: UInt8.self), at: header)
            {
                return header + body
            }
            if held < wanted || wanted > RelayFrame.maximumSize { return nil }
            wanted *= 4
        }
    }

    /// Passes over at least one byte, up to what looks like the next frame's header, or to the end.
    private func skipToFrameHeader() throws(RecordingError) {
        window.consume(1)
        while try window.fill(5) >= 5 {
            let bytes = window.bytes
            let found = (0...(bytes.count - 5)).first {
                RecordingFormat.isFrameHeader(UnsafeRawBufferPointer(rebasing: bytes[$0...]))
            }
            window.consume(found ?? bytes.count - 4)
            if found != nil { return }
        }
        window.consume(window.bytes.count)
    }

    // MARK: Repo exports

    /// The whole CAR is one message.
    private func nextExport() throws(RecordingError) -> Item? {
        guard index == 0 else { return nil }
        let place = position("export")
        let length = try window.fill(Int(window.size))
        let bytes = [UInt8](window.bytes.prefix(length))
        window.consume(length)
        return .message(bytes, at: place)
    }
}
