/// Writes objects member by member.
struct JSONObjectWriter {
    private(set) var bytes: [UInt8] = []
    private var isAtStart = true

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// Opens an object: the whole, or a member's value.
    mutating func open() {
        bytes.append(UInt8(ascii: "{"))
        isAtStart = true
    }

    mutating func close() {
        bytes.append(UInt8(ascii: "}"))
        isAtStart = false
    }

    /// The next member's key, of letters and hyphens; its value must follow.
    mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        key(name)
        JSONText.append(value, to: &bytes)
    }

    /// A member whose key may be any text.
    mutating func member(named name: String, _ value: String) {
        separate()
        JSONText.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        JSONText.append(value, to: &bytes)
    }

    mutating func member(_ name: StaticString, _ value: Int) {
        key(name)
        bytes += String(value).utf8
    }

    /// `value` must be finite.
    mutating func member(_ name: StaticString, _ value: Double) {
        key(name)
        bytes += String(value).utf8
    }

    mutating func member(_ name: StaticString, _ values: [String]) {
        key(name)
        bytes.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            JSONText.append(value, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func separate() {
        if !isAtStart { bytes.append(UInt8(ascii: ",")) }
        isAtStart = false
    }
}
