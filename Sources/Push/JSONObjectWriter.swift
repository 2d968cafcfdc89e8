/// Writes an object member by member.
struct JSONObjectWriter: ~Copyable {
    private var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var count = 0
    private var isAtStart = true

    /// Opens the object. `capacity`: bytes that it will have, as far as that is known.
    init(capacity: Int = 256) {
        self.capacity = max(capacity, 2)
        memory = .allocate(capacity: self.capacity)
        open()
    }

    deinit { memory.deallocate() }

    /// Closes the object, and the whole of it.
    consuming func finish() -> [UInt8] {
        close()
        return Array(UnsafeBufferPointer(start: memory, count: count))
    }

    /// Opens an object that is a member's value.
    mutating func open() {
        append(UInt8(ascii: "{"))
        isAtStart = true
    }

    mutating func close() {
        append(UInt8(ascii: "}"))
        isAtStart = false
    }

    /// The next member's key, of letters and hyphens; its value must follow.
    mutating func key(_ name: StaticString) {
        separate()
        append(UInt8(ascii: "\""))
        append(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        append(UInt8(ascii: "\""))
        append(UInt8(ascii: ":"))
    }

    mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        key(name)
        append(value)
    }

    /// A member whose key may be any text.
    mutating func member(named name: String, _ value: String) {
        separate()
        append(name)
        append(UInt8(ascii: ":"))
        append(value)
    }

    mutating func member(_ name: StaticString, _ value: Int) {
        key(name)
        appendPlain(String(value))
    }

    /// `value` must be finite.
    mutating func member(_ name: StaticString, _ value: Double) {
        key(name)
        appendPlain(String(value))
    }

    mutating func member(_ name: StaticString, _ values: [String]) {
        key(name)
        append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { append(UInt8(ascii: ",")) }
            append(value)
        }
        append(UInt8(ascii: "]"))
    }

    private mutating func separate() {
        if !isAtStart { append(UInt8(ascii: ",")) }
        isAtStart = false
    }
}

// MARK: Bytes

extension JSONObjectWriter {
    private mutating func append(_ byte: UInt8) {
        reserve(1)
        memory[count] = byte
        count += 1
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        reserve(bytes.count)
        if let start = bytes.baseAddress { (memory + count).update(from: start, count: bytes.count) }
        count += bytes.count
    }

    private mutating func appendPlain(_ text: String) {
        for byte in text.utf8 { append(byte) }
    }

    /// A string with its quotes.
    private mutating func append(_ text: String) {
        let size = text.utf8.count
        reserve(size + 2)
        append(UInt8(ascii: "\""))
        let end = memory + count
        let isWritten = text.utf8.withContiguousStorageIfAvailable { utf8 in
            utf8.baseAddress.map { JSONText.copyPlain(from: $0, to: end, count: size) } ?? true
        }
        if isWritten == true {
            count += size
        } else {
            for byte in text.utf8 { appendEscaped(byte) }
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        guard JSONText.needsEscape(byte) else { return append(byte) }
        append(UInt8(ascii: "\\"))
        if let letter = JSONText.letter(byte) { return append(letter) }
        appendPlain("u00")
        append(JSONText.digit(byte >> 4))
        append(JSONText.digit(byte & 15))
    }

    private mutating func reserve(_ size: Int) {
        if capacity - count < size { grow(size) }
    }

    private mutating func grow(_ size: Int) {
        capacity = max(capacity * 2, count + size)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: memory, count: count)
        memory.deallocate()
        memory = larger
    }
}
