import Glibc

/// A file read front to back through a window that grows only as far as one message needs.
final class FileWindow {
    /// Bytes in the file when it was opened.
    let size: Int64
    /// Where in the file the window begins.
    private(set) var offset: Int64 = 0

    private let descriptor: Int32
    private var buffer: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0
    private var reachedEnd = false

    init(path: String) throws(RecordingError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw RecordingError(path: path, message: String(cString: strerror(errno)).lowercased())
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            close(descriptor)
            throw RecordingError(path: path, message: "is not a file")
        }
        size = Int64(status.st_size)
        buffer = .allocate(byteCount: 1 << 20, alignment: 16)
    }

    deinit {
        close(descriptor)
        buffer.deallocate()
    }

    /// What the window holds now; valid until the next `fill` or `consume`.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[start..<end]) }

    /// Reads until the window holds `count` bytes or the file ends; returns how many it holds.
    @discardableResult
    func fill(_ count: Int) throws(RecordingError) -> Int {
        if end - start >= count || reachedEnd { return end - start }
        makeRoom(for: count)
        while end - start < count {
            let got = read(descriptor, buffer.baseAddress! + end, buffer.count - end)
            if got < 0 {
                if errno == EINTR { continue }
                throw RecordingError(path: "recording", message: String(cString: strerror(errno)).lowercased())
            }
            if got == 0 {
                reachedEnd = true
                break
            }
            end += got
        }
        return end - start
    }

    func consume(_ count: Int) {
        start += count
        offset += Int64(count)
    }

    /// Passes over `count` bytes, in the window or beyond it; false when the file ends before.
    func skip(_ count: Int) throws(RecordingError) -> Bool {
        var rest = count
        while rest > 0 {
            let step = min(rest, try fill(min(rest, 1 << 20)))
            if step == 0 { return false }
            consume(step)
            rest -= step
        }
        return true
    }

    private func makeRoom(for count: Int) {
        let held = end - start
        if count > buffer.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, buffer.count * 2), alignment: 16)
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
            buffer.deallocate()
            buffer = larger
        } else {
            memmove(buffer.baseAddress!, buffer.baseAddress! + start, held)
        }
        start = 0
        end = held
    }
}

/// A recording that cannot be opened, told apart or read on.
public struct RecordingError: Error, Sendable, CustomStringConvertible {
    public var path: String
    public var message: String

    public var description: String { "\(path): \(message)" }
}
