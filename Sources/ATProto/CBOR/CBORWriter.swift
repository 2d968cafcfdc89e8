/// Writes a value's one encoding into memory that `size(of:)` has measured.
struct CBORWriter {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private(set) var offset = 0

    init(_ buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

    static func size(of value: Value) -> Int {
        switch value {
        case .null, .bool: 1
        case .integer(let number): headSize(UInt64(number < 0 ? -1 - number : number))
        case .string(let text): sizeOfString(text.utf8.count)
        case .bytes(let bytes): sizeOfString(bytes.count)
        case .link(let cid): 2 + sizeOfString(cid.bytes.count + 1)
        case .array(let items): items.reduce(headSize(UInt64(items.count))) { $0 + size(of: $1) }
        case .map(let map):
            map.entries.reduce(headSize(UInt64(map.entries.count))) {
                $0 + sizeOfString($1.key.utf8.count) + size(of: $1.value)
            }
        }
    }

    private static func sizeOfString(_ count: Int) -> Int { headSize(UInt64(count)) + count }

    private static func headSize(_ argument: UInt64) -> Int {
        switch argument {
        case ..<24: 1
        case ..<(1 << 8): 2
        case ..<(1 << 16): 3
        case ..<(1 << 32): 5
        default: 9
        }
    }

    mutating func write(_ value: Value) {
        switch value {
        case .null: put(0xf6)
        case .bool(let flag): put(flag ? 0xf5 : 0xf4)
        case .integer(let number):
            number < 0 ? head(.negative, UInt64(-1 - number)) : head(.unsigned, UInt64(number))
        case .string(let text): write(text)
        case .bytes(let bytes):
            head(.bytes, UInt64(bytes.count))
            bytes.withUnsafeBufferPointer { put($0) }
        case .link(let cid):
            head(.tag, 42)
            head(.bytes, UInt64(cid.bytes.count + 1))
            put(0)
            cid.bytes.withUnsafeBufferPointer { put($0) }
        case .array(let items):
            head(.array, UInt64(items.count))
            for item in items { write(item) }
        case .map(let map):
            head(.map, UInt64(map.entries.count))
            for entry in map.entries {
                write(entry.key)
                write(entry.value)
            }
        }
    }

    private mutating func write(_ text: String) {
        var text = text
        head(.text, UInt64(text.utf8.count))
        text.withUTF8 { put($0) }
    }

    private mutating func head(_ kind: CBORReader.Kind, _ argument: UInt64) {
        let major = kind.rawValue << 5
        guard argument >= 24 else { return put(major | UInt8(argument)) }
        let size = Self.headSize(argument)
        // 24, 25, 26, 27 for 1, 2, 4, 8 bytes.
        put(major | 24 + UInt8((size - 1).trailingZeroBitCount))
        for shift in stride(from: (size - 2) * 8, through: 0, by: -8) {
            put(UInt8(truncatingIfNeeded: argument >> UInt64(shift)))
        }
    }

    @inline(__always)
    private mutating func put(_ byte: UInt8) {
        buffer[offset] = byte
        offset += 1
    }

    private mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
        precondition(bytes.count <= buffer.count - offset)
        guard let source = bytes.baseAddress, let target = buffer.baseAddress else { return }
        (target + offset).initialize(from: source, count: bytes.count)
        offset += bytes.count
    }
}
