import ATProto

/// The JSON object that a procedure is called with, member by member. Members that are not asked for are passed over.
struct JSONBody: Sendable {
    private let map: ValueMap

    init(_ map: ValueMap = ValueMap()) { self.map = map }

    /// - Throws: `InvalidRequest`.
    init(_ bytes: [UInt8]) throws(XRPCError) {
        do throws(DecodingFailure) {
            guard let map = try JSON.decode(bytes, as: .plain).map else {
                throw DecodingFailure("an object expected")
            }
            self.map = map
        } catch { throw .invalidRequest("the body is not JSON as the protocol has it: \(error)") }
    }

    subscript(name: String) -> Value? { map[name] }

    /// A string of 1 to `maximum` bytes without control characters.
    func text(_ name: String, maximum: Int) throws(XRPCError) -> String {
        guard let text = try optionalText(name, maximum: maximum) else { throw .invalidRequest("\(name) is missing") }
        return text
    }

    /// The same, nil where it is absent or null.
    func optionalText(_ name: String, maximum: Int) throws(XRPCError) -> String? {
        guard let value = map[name], !value.isNull else { return nil }
        guard let text = value.string else { throw .invalidRequest("\(name) must be a string") }
        guard !text.isEmpty else { throw .invalidRequest("\(name) is empty") }
        guard text.utf8.count <= maximum else { throw .invalidRequest("\(name) is longer than \(maximum) bytes") }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .invalidRequest("\(name) holds control characters")
        }
        return text
    }

    func integer(_ name: String) throws(XRPCError) -> Int64 {
        guard let value = map[name]?.integer else { throw .invalidRequest("\(name) must be an integer") }
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
