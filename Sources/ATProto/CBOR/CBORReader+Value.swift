extension CBORReader {
    /// Room for this many items is made at once; more come as they are read, whatever a count claims.
    private static let reservedItems = 32

    /// The next value, with at most `depth` containers inside one another.
    mutating func value(depth: Int) throws(DecodingFailure) -> Value {
        let start = offset
        allowedValues -= 1
        guard allowedValues >= 0 else { throw failure("more than \(DAGCBOR.maximumCount) values") }
        let head = try head()
        switch head.kind {
        case .unsigned: return .integer(try integer(head.argument))
        case .negative: return .integer(-1 - (try integer(head.argument)))
        case .bytes: return .bytes([UInt8](slice(try range(head.argument))))
        case .text: return .string(try text(try range(head.argument)))
        case .array: return .array(try array(head.argument, depth: depth))
        case .map: return .map(try map(head.argument, depth: depth))
        case .tag: return .link(CID(checked: [UInt8](slice(try link(tag: head.argument)))))
        case .simple: return try simple(head.argument, at: start)
        }
    }

    func integer(_ argument: UInt64) throws(DecodingFailure) -> Int64 {
        guard argument <= UInt64(Int64.max) else { throw failure("an integer beyond 64 bits") }
        return Int64(argument)
    }

    private func simple(_ argument: UInt64, at start: Int) throws(DecodingFailure) -> Value {
        switch argument {
        case 20: return .bool(false)
        case 21: return .bool(true)
        case 22: return .null
        default: throw failure("a simple value other than false, true and null", at: start)
        }
    }

    private func descend(_ depth: Int) throws(DecodingFailure) {
        guard depth > 0 else { throw failure("more than \(DAGCBOR.maximumDepth) containers inside one another") }
    }

    private mutating func array(_ argument: UInt64, depth: Int) throws(DecodingFailure) -> [Value] {
        try descend(depth)
        let count = try count(argument, width: 1)
        var items: [Value] = []
        items.reserveCapacity(min(count, Self.reservedItems))
        for _ in 0..<count { items.append(try value(depth: depth - 1)) }
        return items
    }

    private mutating func map(_ argument: UInt64, depth: Int) throws(DecodingFailure) -> ValueMap {
        try descend(depth)
        let count = try count(argument, width: 2)
        var entries: [ValueMap.Entry] = []
        entries.reserveCapacity(min(count, Self.reservedItems))
        var previous: Range<Int>?
        for _ in 0..<count {
            let key = try key(after: previous)
            previous = key
            entries.append(ValueMap.Entry(key: try text(key), value: try value(depth: depth - 1)))
        }
        return ValueMap(canonical: entries)
    }

    /// Moves behind the next value, as strict as `value(depth:)` but keeping nothing.
    mutating func skip(depth: Int) throws(DecodingFailure) {
        let start = offset
        let head = try head()
        switch head.kind {
        case .unsigned, .negative: _ = try integer(head.argument)
        case .bytes: _ = try range(head.argument)
        case .text: try skipText(try range(head.argument))
        case .array:
            try descend(depth)
            for _ in 0..<(try count(head.argument, width: 1)) { try skip(depth: depth - 1) }
        case .map:
            try descend(depth)
            var previous: Range<Int>?
            for _ in 0..<(try count(head.argument, width: 2)) {
                let key = try key(after: previous)
                try skipText(key)
                previous = key
                try skip(depth: depth - 1)
            }
        case .tag: _ = try link(tag: head.argument)
        case .simple: _ = try simple(head.argument, at: start)
        }
    }

    /// Checks a text without making a String of it.
    func skipText(_ range: Range<Int>) throws(DecodingFailure) {
        do {
            _ = try UTF8Span(validating: Span(_unsafeElements: slice(range)))
        } catch {
            throw failure("a text that is not UTF-8", at: range.lowerBound)
        }
    }
}
