import Glibc

/// Writing text to a descriptor, without a buffer in between.
public enum FileDescriptorText {
    /// Writes all of `text`, in one call where the system takes it so. False when the reader is gone or the disk is full.
    @discardableResult
    public static func write(_ text: String, to descriptor: Int32) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var written = 0
            while written < bytes.count {
                let count = Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return false }
                written += count
            }
            return true
        }
    }
}
