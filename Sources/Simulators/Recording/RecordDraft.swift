import ATProto

/// Writes the records of the evening, as grain's and Bluesky's apps would.
enum RecordDraft {
    static func profile(name: String?, description: String?, avatar: Value?, time: Int64) -> Value {
        record(
            .profile, time: time,
            [
                ("displayName", name.map(Value.string)), ("description", description.map(Value.string)),
                ("avatar", avatar),
            ])
    }

    static func gallery(title: String, description: String?, _ extras: [(String, Value?)] = [], time: Int64) -> Value {
        record(
            .gallery, time: time,
            [("title", .string(title)), ("description", description.map(Value.string))] + extras)
    }

    static func story(media: Value?, time: Int64) -> Value { record(.story, time: time, [("media", media)]) }

    static func favorite(subject: String, time: Int64) -> Value {
        record(.favorite, time: time, [("subject", .string(subject))])
    }

    static func follow(subject: String, time: Int64) -> Value {
        record(.follow, time: time, [("subject", .string(subject))])
    }

    static func comment(subject: String, text: String, replyTo: String?, facets: Value?, time: Int64) -> Value {
        record(
            .comment, time: time,
            [
                ("subject", .string(subject)), ("text", .string(text)), ("replyTo", replyTo.map(Value.string)),
                ("facets", facets),
            ])
    }

    static func photo(_ random: inout SeededRandom, time: Int64) -> Value {
        record(
            .photo, time: time,
            [
                ("photo", blob(&random)), ("alt", .string(random.pick(EveningWords.oddTexts))),
                ("aspectRatio", map([("width", .integer(4)), ("height", .integer(3))])), ("exif", .null),
            ])
    }

    static func like(uri: String, _ random: inout SeededRandom, time: Int64) -> Value {
        let cid = CID.dagCBOR(of: random.bytes(8)).description
        return record(
            .like, time: time, [("subject", map([("uri", .string(uri)), ("cid", .string(cid))]))])
    }

    static func post(_ random: inout SeededRandom, time: Int64) -> Value {
        record(
            .post, time: time,
            [
                ("text", .string(random.pick(EveningWords.oddTexts))),
                ("langs", .array([.string("en"), .string("ar")])),
                ("embed", map([("$type", .string("app.bsky.embed.images")), ("images", .array([]))])),
                ("extremes", .array([.integer(.min), .integer(.max), .integer(0), .bool(false), .null, map([])])),
            ])
    }

    /// A mention of `did` at the end of `text`, located in UTF-8 bytes.
    static func mention(of did: String, handle: String, in text: String) -> (text: String, facets: Value) {
        let start = text.utf8.count + 1
        let mentioned = "@\(handle)"
        let feature = map([("$type", .string("app.bsky.richtext.facet#mention")), ("did", .string(did))])
        let index = map([
            ("byteStart", .integer(Int64(start))), ("byteEnd", .integer(Int64(start + mentioned.utf8.count))),
        ])
        return ("\(text) \(mentioned)", .array([map([("index", index), ("features", .array([feature]))])]))
    }

    /// A reference to an image that nobody has.
    static func blob(_ random: inout SeededRandom) -> Value {
        map([
            ("$type", .string("blob")), ("ref", .link(.raw(of: random.bytes(8)))), ("mimeType", .string("image/jpeg")),
            ("size", .integer(Int64(20_000 + random.below(900_000)))),
        ])
    }

    /// `$type`, `createdAt` and `properties`, of which those that are nil are left out.
    static func record(_ collection: GrainCollection, time: Int64?, _ properties: [(String, Value?)]) -> Value {
        map(
            [("$type", .string(collection.rawValue)), ("createdAt", time.map { .string(datetimeText($0)) })]
                + properties
        )
    }

    static func map(_ properties: [(String, Value?)]) -> Value {
        let entries = properties.compactMap { key, value in value.map { ValueMap.Entry(key: key, value: $0) } }
        guard let map = ValueMap(entries) else { preconditionFailure("a draft names a property twice") }
        return .map(map)
    }
}
