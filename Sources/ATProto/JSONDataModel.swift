/// What the data model asks of maps beyond their encoding. Source: atproto.com/specs/data-model.
public enum DataModel {
    /// Bytes of one record, as DAG-CBOR.
    public static let maximumRecordSize = 1 << 20

    /// Why `record` cannot stand in a repo: it must be a map, and every map in it must keep the rules of `$type`,
    /// blobs, `$link` and `$bytes`. nil when it can. For records that did not come through `JSON.decode`.
    public static func fault(of record: Value) -> String? {
        guard case .map = record else { return "a record must be an object" }
        return faultInside(record)
    }

    private static func faultInside(_ value: Value) -> String? {
        switch value {
        case .array(let items):
            for item in items { if let fault = faultInside(item) { return fault } }
        case .map(let map):
            if let fault = typeFault(of: map) { return fault }
            for entry in map.entries {
                if entry.key == "$link" || entry.key == "$bytes" { return "\(entry.key) as a key of a map" }
                if let fault = faultInside(entry.value) { return fault }
            }
        default: break
        }
        return nil
    }

    /// Why `map` breaks the rules of `$type`: a non-empty string, and of `blob`: a link, a MIME type and a size.
    static func typeFault(of map: ValueMap) -> String? {
        guard let type = map.type else { return nil }
        guard case .string(let name) = type, !name.isEmpty else { return "$type is no non-empty string" }
        guard name == "blob" else { return nil }
        guard case .link = map["ref"] else { return "a blob without a link as ref" }
        guard case .string(let mimeType) = map["mimeType"], !mimeType.isEmpty else {
            return "a blob without a mimeType"
        }
        guard case .integer(let size) = map["size"], size >= 0 else { return "a blob without a size" }
        return nil
    }
}

extension ValueMap {
    /// The value under `$type`. Canonical order puts it among the first keys, those of up to five bytes.
    var type: Value? {
        for entry in entries {
            let length = entry.key.utf8.count
            if length > 5 { return nil }
            if length == 5, entry.key == "$type" { return entry.value }
        }
        return nil
    }
}
