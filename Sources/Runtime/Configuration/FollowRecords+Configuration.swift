import ATProto
import Push
import Storage

extension FollowRecords {
    /// From the section's `follows`; nil where it is missing, or with what is wrong added to `problems`.
    init?(_ section: inout ConfigurationSection, problems: inout [ConfigurationProblem]) {
        guard var follows = section.section("follows") else { return nil }
        let collection = follows.requiredText(
            "collection", meaning: "the NSID of the records that follow, such as \"social.grain.graph.follow\""
        ) { NSID.isValid($0) ? nil : "is no collection's NSID: \"\($0.printable)\"" }
        let subject = follows.text("subject", check: Self.subjectProblem)
        problems += follows.finish()
        guard let collection else { return nil }
        self.init(collection: collection, subject: subject ?? Self.grain.subject)
    }

    private static func subjectProblem(_ name: String) -> String? {
        let isName =
            name.utf8.count <= 128
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: false
                }
            }
        return isName ? nil : "must be the name of the property that holds the followed DID, such as \"subject\""
    }
}

extension KeptCollections {
    /// Why nobody is known to follow anybody, so that settings that ask for it let nothing through; nil when it is known.
    public func problem(with follows: FollowRecords) -> String? {
        let (collection, subject) = (follows.collection, follows.subject)
        guard filter.contains(collection) else {
            return "\(collection) is not kept: name your app's records of it in push.follows.collection"
        }
        guard let record = lexicons.documents[collection]?.record,
            !record.properties.contains(where: { $0.name == subject })
        else { return nil }
        return "\(collection) has no property \(subject): name the right one in push.follows.subject"
    }
}

extension PushConfiguration {
    /// What check says of it: the records, or why there are none.
    public func followsText(_ kept: KeptCollections) -> String {
        let follows = tuning.follows
        return kept.problem(with: follows).map { "unknown: \($0.printable)" }
            ?? "\(follows.collection), \(follows.subject)".printable
    }
}
