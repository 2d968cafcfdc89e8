extension BinaryInteger {
    /// With a comma between thousands: `12,345`.
    var grouped: String {
        let digits = Array(String(magnitude))
        var text = self < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }

    /// `1 event`, `2 events`; `1 person`, `2 people` with the plural given.
    func of(_ noun: String, _ plural: String? = nil) -> String {
        "\(grouped) \(self == 1 ? noun : plural ?? noun + "s")"
    }
}

extension Duration {
    /// In seconds, to two or three figures: `0.42 s`, `83.1 s`.
    var shortSeconds: String {
        let seconds = self / .seconds(1)
        let (whole, hundredths) = Int((seconds * 100).rounded()).quotientAndRemainder(dividingBy: 100)
        if seconds >= 10 { return "\(whole).\(hundredths / 10) s" }
        return "\(whole).\(hundredths < 10 ? "0" : "")\(hundredths) s"
    }
}

/// `label` and after it the items, on as many lines as it takes to stay within 100 columns.
func labelled(_ label: String, _ items: [String]) -> [String] {
    var lines: [String] = []
    var line = label
    for (index, item) in items.enumerated() {
        let piece = item + (index == items.count - 1 ? "" : ",")
        if line.count > label.count, line.count + 1 + piece.count > 100 {
            lines.append(line)
            line = String(repeating: " ", count: label.count)
        }
        line += line.count == label.count ? piece : " " + piece
    }
    return lines + [line]
}
