/// Passing over JSON that nobody needs: its grammar is checked, nothing is built.
extension JSONReader {
    /// Containers inside one another that may be passed over; more than a value may have, so that a record which is too
    /// deep costs its op and not its line.
    static let maximumSkippedDepth = 256

    /// Passes the value that comes next: any number, any escape, duplicate keys allowed.
    mutating func skipValue(depth: Int = maximumSkippedDepth) throws(Fault) {
        skipWhitespace()
        switch next {
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "{"): try skipObject(depth: depth)
        case UInt8(ascii: "["): try skipArray(depth: depth)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try skipNumber()
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        default: try literal("null")
        }
    }

    private mutating func skipArray(depth: Int) throws(Fault) {
        try descend(depth)
        if take(UInt8(ascii: "]")) { return }
        repeat { try skipValue(depth: depth - 1) } while take(UInt8(ascii: ","))
        try expect(UInt8(ascii: "]"), "a comma or the array's end is missing")
    }

    private mutating func skipObject(depth: Int) throws(Fault) {
        try descend(depth)
        if take(UInt8(ascii: "}")) { return }
        repeat {
            skipWhitespace()
            guard next == UInt8(ascii: "\"") else { throw fault(.grammar, "a member name must be a string") }
            try skipString()
            try expect(UInt8(ascii: ":"), "a colon must follow a member name")
            try skipValue(depth: depth - 1)
        } while take(UInt8(ascii: ","))
        try expect(UInt8(ascii: "}"), "a comma or the object's end is missing")
    }

    private mutating func descend(_ depth: Int) throws(Fault) {
        guard depth > 0 else {
            throw fault(.model, "more than \(Self.maximumSkippedDepth) containers inside one another")
        }
        position += 1
    }

    private mutating func skipNumber() throws(Fault) {
        do { _ = try integer() } catch  where error.kind == .model {}
    }

    private mutating func skipString() throws(Fault) {
        position += 1
        while true {
            let start = position
            if !moveToSpecial(), !UTF8Check.isValid(passed(since: start)) {
                throw fault(.grammar, "a string is not UTF-8", at: start)
            }
            switch next {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"):
                position += 1
                if Self.simpleEscape(next) != nil { position += 1 } else { _ = try hexEscape() }
            default: throw fault(.grammar, position < end ? "a control character in a string" : "a string does not end")
            }
        }
    }
}

/// Whether bytes are UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. Source: Unicode, table 3-7.
enum UTF8Check {
    static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            let lead = bytes[index]
            index += 1
            let following: Int
            var second: ClosedRange<UInt8> = 0x80...0xBF
            switch lead {
            case 0...0x7F: continue
            case 0xC2...0xDF: following = 1
            case 0xE0...0xEF:
                following = 2
                if lead == 0xE0 { second = 0xA0...0xBF } else if lead == 0xED { second = 0x80...0x9F }
            case 0xF0...0xF4:
                following = 3
                if lead == 0xF0 { second = 0x90...0xBF } else if lead == 0xF4 { second = 0x80...0x8F }
            default: return false
            }
            guard index + following <= bytes.count, second ~= bytes[index] else { return false }
            for offset in 1..<following where bytes[index + offset] & 0xC0 != 0x80 { return false }
            index += following
        }
        return true
    }
}
