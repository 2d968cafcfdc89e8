/// A notification's JSON: `{"aps":{"alert":{"title":…,"body":…},"sound":"default"},…data}`.
///
/// Source: developer.apple.com/documentation/usernotifications/generating-a-remote-notification
struct APNsPayload {
    /// Apple's limit for everything but VoIP.
    static let maximumBytes = 4096
    static let ellipsis = "…"

    let bytes: [UInt8]

    enum Refusal: Error, Hashable, CustomStringConvertible {
        case dataHoldsAps
        /// Bytes of the payload with neither title nor body.
        case dataTooLarge(Int)

        var description: String {
            switch self {
            case .dataHoldsAps: "data may not hold \"aps\""
            case .dataTooLarge(let count):
                "payload too large: \(count) bytes without title and body, of \(APNsPayload.maximumBytes)"
            }
        }
    }

    /// Cuts at a grapheme what does not fit: the body first, the title when that is not enough.
    /// The keys of `data` are sorted, so that equal notifications have equal bytes.
    init(title: String, body: String, data: [String: String]) throws(Refusal) {
        guard data["aps"] == nil else { throw .dataHoldsAps }
        let tail = Self.tail(data)
        let whole = Self.assemble(title: title, body: body, tail: tail)
        if whole.count <= Self.maximumBytes {
            bytes = whole
            return
        }
        let frame = Self.assemble(title: "", body: "", tail: tail).count
        let room = Self.maximumBytes - frame
        guard room >= 0 else { throw .dataTooLarge(frame) }
        // The title may have all that a body of one ellipsis leaves.
        let cutTitle = Self.cut(title, to: body.isEmpty ? room : max(room - Self.ellipsis.utf8.count, 0))
        let cutBody = Self.cut(body, to: room - JSONText.encodedCount(cutTitle))
        bytes = Self.assemble(title: cutTitle, body: cutBody, tail: tail)
        guard bytes.count <= Self.maximumBytes else { throw .dataTooLarge(bytes.count) }
    }

    private static func tail(_ data: [String: String]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (key, value) in data.sorted(by: { $0.key < $1.key }) {
            bytes.append(UInt8(ascii: ","))
            JSONText.append(key, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            JSONText.append(value, to: &bytes)
        }
        return bytes
    }

    private static func assemble(title: String, body: String, tail: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(80 + title.utf8.count + body.utf8.count + tail.count)
        bytes += #"{"aps":{"alert":{"title":"#.utf8
        JSONText.append(title, to: &bytes)
        bytes += #","body":"#.utf8
        JSONText.append(body, to: &bytes)
        bytes += #"},"sound":"default"}"#.utf8
        bytes += tail
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// The longest run of whole graphemes that fits into `room` encoded bytes, with an ellipsis where something is missing.
    private static func cut(_ text: String, to room: Int) -> String {
        var used = 0
        // Where to cut so that the ellipsis still fits.
        var end = text.startIndex
        var index = text.startIndex
        while index < text.endIndex {
            let next = text.index(after: index)
            used += JSONText.encodedCount(text[index..<next])
            guard used <= room else { return room < ellipsis.utf8.count ? "" : text[..<end] + ellipsis }
            if used + ellipsis.utf8.count <= room { end = next }
            index = next
        }
        return text
    }
}
