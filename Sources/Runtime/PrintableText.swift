extension Unicode.Scalar {
    /// True for what a terminal obeys instead of showing: control characters, and marks that turn the direction of writing.
    public var steersTerminal: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension String {
    /// The text with everything that steers a terminal escaped as `\u{…}`, so that a name cannot repaint the screen.
    public var printable: String {
        guard unicodeScalars.contains(where: \.steersTerminal) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.steersTerminal {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
