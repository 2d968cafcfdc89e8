import ATProto
import HookKit
import Testing

@testable import Runtime

@Suite struct LexiconFolderTests {
    private static func lexicon(_ id: String, type: String = "record") -> String {
        let body = #""record": {"type": "object", "properties": {}}"#
        return """
            {"lexicon": 1, "id": "\(id)", "defs": {"main": {"type": "\(type)", "key": "tid", \(body)}}}
            """
    }

    @Test func findsFilesAtAnyDepth() throws {
        let folder = try ConfigurationFolder()
        try folder.write(Self.lexicon("a.b.one"), to: "lexicons/one.json")
        try folder.write(Self.lexicon("a.b.two"), to: "lexicons/a/b/two.json")
        try folder.write("not read", to: "lexicons/README.md")
        try folder.write("not read", to: "lexicons/.hidden.json")
        let lexicons = try LexiconFolder.load(folder.path + "/lexicons")
        #expect(lexicons.documents.keys.sorted() == ["a.b.one", "a.b.two"])
    }

    @Test(arguments: ["", "{", "[]", #"{"lexicon": 1, "id": "one"}"#]) func namesTheFileItRefuses(_ text: String) throws
    {
        let folder = try ConfigurationFolder()
        try folder.write(text, to: "lexicons/broken.json")
        let error = #expect(throws: LexiconFolderError.self) { try LexiconFolder.load(folder.path + "/lexicons") }
        #expect(error?.path == folder.path + "/lexicons/broken.json")
        #expect(error?.description.contains("\n") == false)
    }

    @Test func refusesTheSameLexiconTwice() throws {
        let folder = try ConfigurationFolder()
        try folder.write(Self.lexicon("a.b.one"), to: "lexicons/1.json")
        try folder.write(Self.lexicon("a.b.one"), to: "lexicons/2.json")
        #expect(throws: LexiconFolderError.self) { try LexiconFolder.load(folder.path + "/lexicons") }
    }

    @Test func keepsWhatLexiconsConfigurationAndHooksName() throws {
        let folder = try ConfigurationFolder()
        try folder.write(Self.lexicon("a.b.one"), to: "lexicons/1.json")
        var configuration = Configuration()
        configuration.lexicons = folder.path + "/lexicons"
        configuration.collections = ["a.b.named"]
        let hook = defineHook(.onCommit(collections: ["a.b.one", "c.d.*"]), name: "h") { _ in }
        let everything = defineHook(.onCommit(collections: []), name: "all") { _ in }
        let kept = try KeptCollections(configuration, hooks: [hook, everything])
        #expect(kept.described == ["a.b.one"])
        #expect(kept.named == ["a.b.named", "c.d.*"])
        for collection in ["a.b.one", "a.b.named", "c.d.e"] { #expect(kept.filter.contains(collection)) }
        #expect(!kept.filter.contains("a.b.other"), "a hook for everything sees what is kept, and keeps nothing itself")
    }
}
