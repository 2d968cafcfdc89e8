import ATProto

/// The JSON object that a procedure is called with, member by member. Members that are not asked for are passed over.
struct JSONBody: Sendable {
    private let map: ValueMap
    /// Where the object stands in the body, for errors; empty for the body itself.
    private let place: String

    init(_ map: ValueMap = ValueMap(), at place: String = "") {
        self.map = map
        self.place = place
    }

    /// - Throws: `InvalidRequest`.
    init(_ bytes: [UInt8]) throws(XRPCError) {
        do throws(DecodingFailure) {
            guard let map = try JSON.decode(bytes, as: .plain).map else {
                throw DecodingFailure("an object expected")
            }
            self.init(map)
        } catch { throw .invalidRequest("the body is not JSON as the protocol has it: \(error)") }
    }

    subscript(name: String) -> Value? { map[name] }

    /// What errors call a member.
    func path(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

    /// A string of 1 to `maximum` bytes without control characters.
    func text(_ name: String, maximum: Int) throws(XRPCError) -> String {
        guard let text = try optionalText(name, maximum: maximum) else {
            throw .invalidRequest("\(path(name)) is missing")
        }
        return text
    }

    /// The same, nil where it is absent or null.
    func optionalText(_ name: String, maximum: Int) throws(XRPCError) -> String? {
        guard let value = map[name], !value.isNull else { return nil }
        guard let text = value.string else { throw .invalidRequest("\(path(name)) must be a string") }
        guard !text.isEmpty else { throw .invalidRequest("\(path(name)) is empty") }
        guard text.utf8.count <= maximum else {
            throw .invalidRequest("\(path(name)) is longer than \(maximum) bytes")
        }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .invalidRequest("\(path(name)) holds control characters")
        }
        return text
    }

    /// nil where it is absent or null.
    func optionalBool(_ name: String) throws(XRPCError) -> Bool? {
        guard let value = map[name], !value.isNull else { return nil }
        guard case .bool(let bool) = value else { throw .invalidRequest("\(path(name)) must be true or false") }
        return bool
    }

    func integer(_ name: String) throws(XRPCError) -> Int64 {
        guard let value = map[name]?.integer else { throw .invalidRequest("\(path(name)) must be an integer") }
        return value
    }
}

extension Value {
    /// An object of members that are known to differ; those that are nil are left out.
    package static func object(_ members: KeyValuePairs<String, Value?>) -> Value {
        let entries = members.compactMap { key, value in value.map { ValueMap.Entry(key: key, value: $0) } }
        return .map(ValueMap(entries) ?? ValueMap())
    }

    init?(_ text: String?) {
        guard let text else { return nil }
        self = .string(text)
    }
}
