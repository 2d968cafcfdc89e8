import Glibc

extension GrainEvening {
    /// What was written.
    public struct WrittenRecording: Sendable {
        public var events: Int
        public var bytes: Int
    }

    /// Writes the recording into the file at `path`, replacing what was there.
    @discardableResult
    public func write(_ format: RecordingFormat, toFile path: String) throws(RecordingFailure) -> WrittenRecording {
        guard let file = fopen(path, "we") else { throw RecordingFailure(path: path, code: errno) }
        var written = 0
        do throws(RecordingFailure) {
            try write(format) { (piece: [UInt8]) throws(RecordingFailure) in
                guard fwrite(piece, 1, piece.count, file) == piece.count else {
                    throw RecordingFailure(path: path, code: errno)
                }
                written += piece.count
            }
        } catch {
            fclose(file)
            throw error
        }
        // A full disk may be noticed only now.
        guard fclose(file) == 0 else { throw RecordingFailure(path: path, code: errno) }
        return WrittenRecording(events: events, bytes: written)
    }
}

/// Why a recording could not be written.
public struct RecordingFailure: Error, Sendable, CustomStringConvertible {
    public var path: String
    /// The system's error number.
    public var code: Int32

    public var description: String { "cannot write \(path): \(String(cString: strerror(code)))" }
}
