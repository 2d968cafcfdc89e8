/// The syntax of language tags: `en`, `pt-BR`, `zh-Hant-TW`. Source: BCP 47 (RFC 5646, section 2.1).
enum LanguageTag {
    static func isWellFormed(_ text: String) -> Bool {
        let subtags = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard subtags.allSatisfy({ 1...8 ~= $0.count && $0.allSatisfy(\.isAlphanumeric) }) else { return false }
        var tag = Walk(subtags: subtags[...])
        if tag.takePrivateUse() { return tag.isDone }
        return tag.takeLanguage() || irregular.contains(text.lowercased())
    }

    /// Registered before the syntax was, and not of it.
    private static let irregular: Set<String> = [
        "en-gb-oed", "i-ami", "i-bnn", "i-default", "i-enochian", "i-hak", "i-klingon", "i-lux", "i-mingo", "i-navajo",
        "i-pwn", "i-tao", "i-tay", "i-tsu", "sgn-be-fr", "sgn-be-nl", "sgn-ch-de",
    ]

    /// Takes subtags from the front, part by part.
    private struct Walk {
        var subtags: ArraySlice<Substring.UTF8View>

        var isDone: Bool { subtags.isEmpty }

        mutating func take(_ isWanted: (Substring.UTF8View) -> Bool) -> Bool {
            guard let first = subtags.first, isWanted(first) else { return false }
            subtags.removeFirst()
            return true
        }

        /// A whole tag: language, extended language, script, region, variants, extensions, private use.
        mutating func takeLanguage() -> Bool {
            guard let first = subtags.first, take({ 2...8 ~= $0.count && $0.isLetters }) else { return false }
            if first.count <= 3 {
                for _ in 0..<3 where take({ $0.count == 3 && $0.isLetters }) {}
            }
            _ = take { $0.count == 4 && $0.isLetters }
            _ = take { $0.count == 2 && $0.isLetters || $0.count == 3 && $0.allSatisfy(\.isDigit) }
            while take({ $0.count >= 5 || $0.count == 4 && $0.first?.isDigit == true }) {}
            while let singleton = subtags.first, singleton.count == 1, !singleton.isPrivateUse {
                subtags.removeFirst()
                guard take({ $0.count >= 2 }) else { return false }
                while take({ $0.count >= 2 }) {}
            }
            return isDone || takePrivateUse() && isDone
        }

        /// `x` and at least one subtag.
        mutating func takePrivateUse() -> Bool {
            guard subtags.first?.isPrivateUse == true, subtags.count > 1 else { return false }
            subtags.removeAll()
            return true
        }
    }
}

extension Substring.UTF8View {
    fileprivate var isLetters: Bool { allSatisfy(\.isLetter) }
    fileprivate var isPrivateUse: Bool { count == 1 && first.map { $0 | 0x20 == UInt8(ascii: "x") } == true }
}
