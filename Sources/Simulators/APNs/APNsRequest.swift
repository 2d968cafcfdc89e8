import Net

/// A request's headers, sorted into what Apple names. Reading never fails; `shapeFault` says what is malformed.
struct APNsRequest {
    var method = ""
    var path = ""
    var authorization: [UInt8]?
    var topic: String?
    var id: String?
    var expiration: String?
    var priority: String?
    var pushType: String?
    var collapseID: [UInt8]?
    var body: [UInt8]

    /// What makes the request malformed in HTTP/2's sense, or names a header that Apple does not know.
    private(set) var shapeFault: String?
    /// A header that stands twice.
    private(set) var repeated: String?

    init(headers: [HeaderField], body: [UInt8]) {
        self.body = body
        var seen: Set<String> = []
        var sawRegular = false
        for field in headers {
            let name = String(decoding: field.name, as: UTF8.self)
            checkShape(name, sawRegular: sawRegular)
            if !name.hasPrefix(":") { sawRegular = true }
            if !seen.insert(name).inserted { repeated = repeated ?? name }
            take(name, field.value)
        }
        for name in [":method", ":scheme", ":path"] where !seen.contains(name) { shapeFault = "no \(name)" }
    }

    private mutating func take(_ name: String, _ value: [UInt8]) {
        var text: String { String(decoding: value, as: UTF8.self) }
        switch name {
        case ":method": method = text
        case ":path": path = text
        case "authorization": authorization = value
        case "apns-topic": topic = text
        case "apns-id": id = text
        case "apns-expiration": expiration = text
        case "apns-priority": priority = text
        case "apns-push-type": pushType = text
        case "apns-collapse-id": collapseID = value
        case ":scheme":
            if text != "https" { shapeFault = "scheme is not https" }
        default:
            if name.hasPrefix("apns-") { shapeFault = "unknown header \(name)" }
        }
    }

    private mutating func checkShape(_ name: String, sawRegular: Bool) {
        if name.isEmpty || name.utf8.contains(where: { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }) {
            shapeFault = "header name not in lower case"
        }
        if name.hasPrefix(":") {
            if sawRegular { shapeFault = "pseudo-header after an ordinary one" }
            if ![":method", ":scheme", ":authority", ":path"].contains(name) { shapeFault = "unknown pseudo-header" }
        }
        if ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"].contains(name) {
            shapeFault = "\(name) has no place in HTTP/2"
        }
    }
}
