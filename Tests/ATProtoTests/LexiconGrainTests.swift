import Foundation
import Testing

@testable import ATProto

@Suite("Lexicons: grain's")
struct LexiconGrainTests {
    private let lexicons: Lexicons

    init() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Hooks/Lexicons")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        lexicons = Lexicons(
            try names.map { name in
                let lexicon = try Lexicon(json: [UInt8](Data(contentsOf: folder.appendingPathComponent(name))))
                #expect(lexicon.id.description + ".json" == name)
                return lexicon
            })
    }

    private func reason(_ collection: String, _ members: String) throws -> Violation.Reason? {
        let json = #"{"$type":"social.grain.\#(collection)"\#(members.isEmpty ? "" : ",")\#(members)}"#
        return lexicons.validate(try JSON.decode(Array(json.utf8)), as: try NSID("social.grain.\(collection)"))?.reason
    }

    static let now = #""createdAt":"2026-07-04T14:38:08.999Z""#
    static let uri = "at://did:plc:abc/social.grain.gallery/3mptbyplj5d2a"

    @Test func namesSixCollections() {
        #expect(
            lexicons.documents.keys.sorted() == [
                "social.grain.actor.profile", "social.grain.comment", "social.grain.favorite", "social.grain.gallery",
                "social.grain.graph.follow", "social.grain.story",
            ])
    }

    @Test(arguments: [
        ("gallery", #""title":"Abend \u0000 \ud83c\udf07",\#(now)"#),
        ("gallery", #""title":"","description":"","facets":[{"index":{}}],"items":[],\#(now)"#),
        ("story", now), ("story", #""media":{"image":{}},"aspectRatio":{"width":3,"height":4},\#(now)"#),
        ("actor.profile", ""),
        (
            "actor.profile",
            #""displayName":"\u202eX'); --","description":"d","avatar":\#(LexiconValidationTests.blob("image/avif", 1)),\#(now)"#
        ),
        ("favorite", #""subject":"\#(uri)",\#(now)"#), ("comment", #""subject":"\#(uri)","text":"",\#(now)"#),
        ("comment", #""subject":"\#(uri)","text":"a","replyTo":"\#(uri)","facets":[],"focus":"x",\#(now)"#),
        ("graph.follow", #""subject":"did:plc:abc",\#(now)"#),
    ])
    func accepts(_ collection: String, _ members: String) throws {
        #expect(try reason(collection, members) == nil)
    }

    @Test(
        arguments: [
            ("gallery", now, .required), ("gallery", #""title":"x""#, .required),
            ("gallery", #""title":null,\#(now)"#, .null),
            ("gallery", #""title":7,\#(now)"#, .type), ("gallery", #""title":"x","createdAt":"yesterday""#, .format),
            ("story", "", .required),
            ("gallery", #""title":"x","facets":{},\#(now)"#, .type), ("actor.profile", #""displayName":7"#, .type),
            ("actor.profile", #""displayName":null"#, .null), ("favorite", now, .required),
            ("favorite", #""subject":"https://a.test",\#(now)"#, .format),
            ("favorite", #""subject":"\#(uri)""#, .required), ("comment", #""subject":"\#(uri)",\#(now)"#, .required),
            ("comment", #""subject":"\#(uri)","text":"a","replyTo":"x",\#(now)"#, .format),
            ("graph.follow", #""subject":"a.test",\#(now)"#, .format),
            ("graph.follow", now, .required),
        ] as [(String, String, Violation.Reason)])
    func refuses(_ collection: String, _ members: String, _ reason: Violation.Reason) throws {
        #expect(try self.reason(collection, members) == reason)
    }

    @Test func makesColumns() throws {
        let comment = try #require(lexicons.documents["social.grain.comment"]?.record)
        #expect(comment.properties.map(\.name) == ["subject", "text", "replyTo", "facets", "createdAt"])
        #expect(
            comment.properties.map(\.kind) == [
                .string(indexed: true), .string(indexed: false), .string(indexed: true), .json, .string(indexed: false),
            ])
        #expect(lexicons.documents["social.grain.actor.profile"]?.record?.key == "literal:self")
        #expect(lexicons.missing == ["app.bsky.richtext.facet"])
    }
}
