import Foundation
import Indexer
import Net
import Push
import Testing
import XRPC

@testable import Runtime

@Suite struct ConfigurationTests {
    private static let push =
        #"keyFile: "key.p8", keyId: "ABC123DEFG", teamId: "DEF123GHIJ", bundleId: "com.grain.app""#

    @Test(arguments: ["ABC123DEFG", "KEY_ID-1", "k", "a.b:c/d+e=", "TEAMID1234"])
    func takesAnyPlainIds(_ id: String) throws {
        let configuration = try ConfigurationFolder().configuration(
            "{push: {apns: {keyFile: 'key.p8', keyId: '\(id)', teamId: '\(id)', bundleId: 'c.d'}}}")
        #expect(configuration.push?.apns.keyID == id)
        #expect(configuration.push?.apns.teamID == id)
    }

    @Test func takesEveryKey() throws {
        let folder = try ConfigurationFolder()
        try folder.write("", to: "lexicons/x.txt")
        let configuration = try folder.configuration(
            """
            // A comment
            {
              database: "data/hark.db", did: 'did:web:push.example.com', listen: "[::1]:3000",
              plc: "http://[::1]:2582",
              lexicons: "lexicons", collections: ["app.bsky.feed.post", "social.grain.*",],
              batch: 500, hooks: { timeout: "1500ms", concurrency: 8, pending: 0x100 },
              "push": { apns: { \(Self.push), environment: "sandbox" } }, /* and the end */
            }
            """)
        #expect(configuration.database == folder.path + "/data/hark.db")
        #expect(configuration.did == "did:web:push.example.com")
        #expect(configuration.listen == "[::1]:3000")
        #expect(configuration.plc == "http://[::1]:2582")
        #expect(configuration.lexicons == folder.path + "/lexicons")
        #expect(configuration.collections == ["app.bsky.feed.post", "social.grain.*"])
        #expect(configuration.indexing.batchOps == 500)
        #expect(configuration.indexing.hookTimeout == .milliseconds(1500))
        #expect(configuration.indexing.hookConcurrency == 8)
        #expect(configuration.indexing.pendingJobs == 256)
        let push = try #require(configuration.push)
        #expect(push.environment == "sandbox")
        #expect(push.apns.keyID == "ABC123DEFG")
        #expect(push.apns.teamID == "DEF123GHIJ")
        #expect(push.apns.bundleID == "com.grain.app")
        #expect(push.apns.keyPEM == ConfigurationFolder.key)
        #expect(push.apns.standIn == nil)
    }

    @Test func leavesDefaultsWhereNothingIsSaid() throws {
        let folder = try ConfigurationFolder()
        let configuration = try folder.configuration("{}")
        #expect(configuration.database == folder.path + "/hark.db")
        #expect(configuration.listen == "127.0.0.1:3000")
        #expect(configuration.push == nil)
        #expect(configuration.collections.isEmpty)
    }

    @Test func aimsAtAStandInForTests() throws {
        let folder = try ConfigurationFolder()
        let push = try folder.configuration(
            "{push: {apns: {\(Self.push)}}}",
            environment: ["HARK_APNS_HOST": "127.0.0.1:8443", "HARK_APNS_CA_FILE": folder.path + "/key.p8"]
        ).push
        #expect(push?.apns.standIn?.port == 8443)
        #expect(push?.apns.caFile == folder.path + "/key.p8")
        #expect(push?.environment == "production")
    }

    @Test func readMeShowsEveryDefault() throws {
        let readMe = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("README.md")
        let parts = try String(contentsOf: readMe, encoding: .utf8).components(separatedBy: "```json5\n")
        let block = try #require(parts.dropFirst().first?.components(separatedBy: "```").first)
        let folder = try ConfigurationFolder()
        try folder.write(ConfigurationFolder.key, to: "certs/AuthKey_XXXX.p8")
        try folder.write("", to: "Hooks/Lexicons/x")
        let shown = try folder.configuration(block)
        let standard = Configuration()
        #expect(shown.database == folder.path + "/" + standard.database)
        #expect(shown.listen == standard.listen)
        #expect(shown.collections == standard.collections)
        #expect(shown.indexing.batchOps == standard.indexing.batchOps)
        #expect(shown.indexing.hookTimeout == standard.indexing.hookTimeout)
        #expect(shown.indexing.hookConcurrency == standard.indexing.hookConcurrency)
        #expect(shown.indexing.pendingJobs == standard.indexing.pendingJobs)
        #expect(shown.auth.lifetime == standard.auth.lifetime && shown.auth.skew == standard.auth.skew)
        #expect(
            shown.auth.allowedHosts == standard.auth.allowedHosts && shown.auth.documents == standard.auth.documents)
        #expect(shown.auth.documentAge == standard.auth.documentAge)
        #expect("\(shown.limits)" == "\(standard.limits)")
        #expect(shown.admin == nil)
        let push = try #require(shown.push)
        #expect(push.environment == "production")
        let tuning = PushTuning()
        #expect(push.tuning.maximumAttempts == tuning.maximumAttempts)
        #expect(push.tuning.backoff == tuning.backoff)
        #expect(push.tuning.lifetime == tuning.lifetime)
        #expect(push.tuning.retention == tuning.retention)
        #expect(push.tuning.maximumAge == .seconds(3600))
        #expect(push.tuning.follows == tuning.follows)
    }

    @Test func readsHowPushesAreSent() throws {
        let folder = try ConfigurationFolder()
        let push = try #require(
            try folder.configuration(
                """
                {push: {apns: {\(Self.push)}, maxAge: "off", maxAttempts: 3, backoff: {base: "2s", cap: "1m"},
                    lifetime: "90m"}, retention: {push: "2d"}}
                """
            ).push)
        #expect(push.tuning.maximumAge == nil)
        #expect(push.tuning.maximumAttempts == 3)
        #expect(push.tuning.backoff.base == .seconds(2))
        #expect(push.tuning.backoff.cap == .seconds(60))
        #expect(push.tuning.lifetime == .seconds(5400))
        #expect(push.tuning.retention == .seconds(2 * 86_400))
    }

    @Test func readsWhatFollowingMeans() throws {
        let folder = try ConfigurationFolder()
        func kept(_ follows: String, _ more: String = "") throws -> (text: String, collections: [String]) {
            let configuration = try folder.configuration("{push: {apns: {\(Self.push)}\(follows)}\(more)}")
            let kept = try KeptCollections(configuration, hooks: [])
            return (try #require(configuration.push).followsText(kept), kept.named)
        }
        try folder.write(
            #"{"lexicon":1,"id":"org.other.watch","defs":{"main":{"type":"record","key":"tid","record":{"type":"object","#
                + #""properties":{"whom":{"type":"string","format":"did"}}}}}}"#, to: "lexicons/watch.json")
        let lexicons = ", lexicons: 'lexicons'"
        #expect(
            try kept("", lexicons).text
                == "unknown: social.grain.graph.follow is not kept: name your app's records of it in push.follows.collection"
        )
        #expect(try kept("", ", collections: ['*']").text == "social.grain.graph.follow, subject")
        #expect(
            try kept(", follows: {collection: 'org.other.watch', subject: 'whom'}", lexicons).text
                == "org.other.watch, whom")
        #expect(
            try kept(", follows: {collection: 'org.other.watch'}", lexicons).text
                == "unknown: org.other.watch has no property subject: name the right one in push.follows.subject")
        // What has no lexicon is kept since it is named.
        let named = try kept(", follows: {collection: 'org.other.bond'}", lexicons)
        #expect(named.text == "org.other.bond, subject" && named.collections == ["org.other.bond"])
    }

    @Test func readsWhatTheServerTakes() throws {
        let folder = try ConfigurationFolder()
        try folder.write("a-token-in-a-file\r\n", to: "admin.token")
        let configuration = try folder.configuration(
            """
            {
              auth: {lifetime: "2m", skew: "5s", allowHosts: ["localhost:2583", "PDS.test"], documents: 5, documentAge: "1m"},
              limits: {body: 2048, headers: 4096, connections: 64, connectionsPerAddress: 8, requestsPerSecond: 0,
                burst: 3, idle: "1s", transfer: "2s", answer: "3s"},
              admin: {tokenFile: "admin.token"},
            }
            """)
        #expect(configuration.auth.lifetime == .seconds(120) && configuration.auth.skew == .seconds(5))
        #expect(configuration.auth.allowedHosts == ["localhost:2583", "pds.test"])
        #expect(configuration.auth.documents == 5 && configuration.auth.documentAge == .seconds(60))
        let limits = configuration.limits
        #expect(limits.maximumBody == 2048 && limits.maximumHeaders == 4096)
        #expect(limits.maximumConnections == 64 && limits.maximumConnectionsPerAddress == 8)
        #expect(limits.requestsPerSecond == 0 && limits.requestBurst == 3)
        #expect(limits.idleTimeout == .seconds(1) && limits.transferTimeout == .seconds(2))
        #expect(limits.handlerTimeout == .seconds(3))
        #expect(try configuration.admin == AdminToken("a-token-in-a-file"))
        #expect(
            try folder.configuration("{admin: {token: 'sixteen-letters-'}}").admin == AdminToken("sixteen-letters-"))
        #expect(try folder.configuration("{}").admin == nil)
    }

    struct Refusal: CustomTestStringConvertible {
        var text: String
        var message: String
        var environment: [String: String] = [:]
        var testDescription: String { text }
    }

    @Test(arguments: refusals) func refuses(_ refusal: Refusal) throws {
        let folder = try ConfigurationFolder()
        try folder.write(ConfigurationFolder.foreignKey, to: "p384.p8")
        try folder.write("no key", to: "text.p8")
        try folder.write("", to: "folder.p8/x")
        let line = try #require(folder.refusal(of: refusal.text, environment: refusal.environment))
        #expect(line == "hark.json5:" + refusal.message)
        #expect(!line.contains("\n"))
    }

    static let refusals: [Refusal] = [
        Refusal(
            text: "{push: {apns: {\(push)}, backoff: {base: '10s', cap: '5s'}}}",
            message: "1: push.backoff.cap must not be shorter than base, which is 10s"),
        Refusal(
            text: "{push: {apns: {\(push)}, maxAge: '0s'}}",
            message: "1: push.maxAge must be a time from 1s to 365d, such as \"30s\", \"500ms\" or \"2m\""),
        Refusal(
            text: "{push: {apns: {\(push)}, follows: {subject: 'whom'}}}",
            message: "1: push.follows.collection is missing: the NSID of the records that follow, such as "
                + #""social.grain.graph.follow""#),
        Refusal(
            text: "{push: {apns: {\(push)}, follows: {collection: 'follow'}}}",
            message: "1: push.follows.collection is no collection's NSID: \"follow\""),
        Refusal(
            text: "{push: {apns: {\(push)}, follows: {collection: 'a.b.c', subject: 'x\"y'}}}",
            message: "1: push.follows.subject must be the name of the property that holds the followed DID, such as "
                + #""subject""#),
        Refusal(
            text: "{push: {apns: {\(push)}, follows: 'social.grain.graph.follow'}}",
            message: "1: push.follows must be an object: { … }, not a text"),
        Refusal(
            text: "{retention: {push: 7}}",
            message: "1: retention.push must be a time with its unit, such as \"30s\", not a number"),
        Refusal(
            text: "{retention: {pushes: '7d'}}",
            message: "1: retention.pushes is not a key that Hark knows: did you mean push?"),
        Refusal(
            text: "{admin: {token: 'fifteen-letters'}}",
            message: "1: admin.token is too short: 16 characters at least, such as \"openssl rand -hex 24\" prints"),
        Refusal(
            text: "{admin: {token: 'with a space within'}}",
            message: "1: admin.token may hold visible ASCII characters only, and no spaces"),
        Refusal(
            text: "{admin: {}}",
            message: "1: admin.token is missing: choose one, or name the file that holds it in tokenFile"),
        Refusal(
            text: "{admin: {token: 'sixteen-letters-', tokenFile: 'text.p8'}}",
            message: "1: admin.tokenFile stands beside token: keep one of them"),
        Refusal(
            text: "{admin: {tokenFile: 'text.p8'}}",
            message: "1: admin.tokenFile may hold visible ASCII characters only, and no spaces"),
        Refusal(
            text: "{admin: {tokenFile: 'gone'}}",
            message: "1: admin.tokenFile cannot read gone: No such file or directory"),
        Refusal(text: "{admin: 'x'}", message: "1: admin must be an object: { … }, not a text"),
        Refusal(
            text: "{auth: {lifetime: '2h'}}",
            message: "1: auth.lifetime must be a time from 1s to 1h, such as \"30s\", \"500ms\" or \"2m\""),
        Refusal(
            text: "{auth: {allowHosts: ['http://localhost']}}",
            message:
                "1: auth.allowHosts[0] \"http://localhost\" is no host, such as \"localhost\" or \"localhost:8080\""),
        Refusal(
            text: "{auth: {allowHosts: ['localhost:0']}}",
            message: "1: auth.allowHosts[0] \"localhost:0\" is no host, such as \"localhost\" or \"localhost:8080\""),
        Refusal(
            text: "{limits: {body: 1}}", message: "1: limits.body must be a whole number from 1024 to 1048576"),
        Refusal(
            text: "{limits: {bodi: 1}}", message: "1: limits.bodi is not a key that Hark knows: did you mean body?"),
        Refusal(text: "", message: "1:1: the file ends where a value should stand"),
        Refusal(text: "{database: 'x'", message: "1:15: the file ends where a comma or } should stand"),
        Refusal(text: "[]", message: "1: must hold one object, { … }, not a list"),
        Refusal(text: "{\n database: 3}", message: "2: database must be a text in quotes, not a number"),
        Refusal(text: "{database: true}", message: "1: database must be a text in quotes, not a boolean"),
        Refusal(text: "{database: ' '}", message: "1: database is empty: give it a value or take the key out"),
        Refusal(text: "{database: 'a', database: 'b'}", message: "1:17: database stands here a second time"),
        Refusal(
            text: "{\n\n databse: 'x'}", message: "3: databse is not a key that Hark knows: did you mean database?"),
        Refusal(
            text: "{hooks: {zzz: 1}}",
            message: "1: hooks.zzz is not a key that Hark knows: known here: timeout, concurrency, pending"),
        Refusal(text: "{did: 'me'}", message: #"1: did is not a DID, such as "did:web:push.example.com""#),
        Refusal(
            text: "{listen: '3000'}", message: #"1: listen must be an address and a port, such as "127.0.0.1:3000""#),
        Refusal(
            text: "{plc: 'plc.directory'}", message: #"1: plc must be a URL, such as "https://plc.directory""#),
        Refusal(text: "{lexicons: 'nowhere'}", message: "1: lexicons names no folder: nowhere"),
        Refusal(text: "{collections: '*'}", message: #"1: collections must be a list: ["…"], not a text"#),
        Refusal(
            text: "{collections: ['app.bsky.feed.post',\n 'post']}",
            message:
                "2: collections[1] \"post\" is no collection: give an NSID, a family such as \"app.bsky.*\", or \"*\""),
        Refusal(text: "{collections: [null]}", message: "1: collections[0] must be a text in quotes, not null"),
        Refusal(text: "{batch: 0}", message: "1: batch must be a whole number from 1 to 100000"),
        Refusal(text: "{batch: 1.5}", message: "1: batch must be a whole number from 1 to 100000"),
        Refusal(text: "{batch: Infinity}", message: "1: batch must be a whole number from 1 to 100000"),
        Refusal(
            text: "{hooks: {timeout: '30'}}",
            message: #"1: hooks.timeout must be a time from 10ms to 1h, such as "30s", "500ms" or "2m""#),
        Refusal(
            text: "{hooks: {timeout: 30}}",
            message: "1: hooks.timeout must be a time with its unit, such as \"30s\", not a number"),
        Refusal(text: "{hooks: []}", message: "1: hooks must be an object: { … }, not a list"),
        Refusal(
            text: "{push: {}}",
            message: "1: push.apns is missing: name Apple's key in it, or take push out to run without pushes"),
        Refusal(
            text: "{push: {apns: {keyFile: 'key.p8', keyId: '', teamId: 'D', bundleId: 'c'}}}",
            message: "1: push.apns.keyId is empty: give it a value or take the key out"),
        Refusal(
            text: "{push: {apns: {keyFile: 'key.p8', keyId: 'KEY ID', teamId: 'D', bundleId: 'c'}}}",
            message: "1: push.apns.keyId may not hold spaces, quotes or letters beyond ASCII"),
        Refusal(
            text: "{push: {apns: {keyFile: 'key.p8', keyId: 'A', teamId: '\"D', bundleId: 'c'}}}",
            message: "1: push.apns.teamId may not hold spaces, quotes or letters beyond ASCII"),
        Refusal(
            text: "{push: {apns: {keyFile: 'key.p8', keyId: 'A', teamId: 'D'}}}",
            message: #"1: push.apns.bundleId is missing: the app's identifier, such as "com.grain.app""#),
        Refusal(
            text: "{push: {apns: {\(push), environment: 'https://api.push.apple.com'}}}",
            message:
                "1: push.apns.environment must be \"production\" or \"sandbox\", not \"https://api.push.apple.com\""),
        Refusal(
            text: "{push: {apns: {keyFile: 'gone.p8', keyId: 'A', teamId: 'D', bundleId: 'c'}}}",
            message: "1: push.apns.keyFile cannot read gone.p8: No such file or directory: "
                + "give the path of Apple's .p8, seen from this file's folder"),
        Refusal(
            text: "{push: {apns: {keyFile: 'folder.p8', keyId: 'A', teamId: 'D', bundleId: 'c'}}}",
            message: "1: push.apns.keyFile cannot read folder.p8: Is a directory: "
                + "give the path of Apple's .p8, seen from this file's folder"),
        Refusal(
            text: "{push: {apns: {keyFile: 'text.p8', keyId: 'A', teamId: 'D', bundleId: 'c'}}}",
            message: "1: push.apns.keyFile text.p8 holds no P-256 private key in PEM: "
                + "is it the .p8 that Apple handed out?"),
        Refusal(
            text: "{push: {apns: {keyFile: 'p384.p8', keyId: 'A', teamId: 'D', bundleId: 'c'}}}",
            message: "1: push.apns.keyFile p384.p8 holds no P-256 private key in PEM: "
                + "is it the .p8 that Apple handed out?"),
        Refusal(
            text: "{push: {apns: {\(push)}}}",
            message: "1: push.apns cannot be aimed: HARK_APNS_HOST must be host:port, not \"nowhere\"",
            environment: ["HARK_APNS_HOST": "nowhere"]),
        Refusal(
            text: "{push: {apns: {\(push)}}}",
            message:
                "1: push.apns cannot be aimed: HARK_APNS_CA_FILE: cannot read /no/ca.pem: No such file or directory",
            environment: ["HARK_APNS_CA_FILE": "/no/ca.pem"]),
        Refusal(
            text: "{did: 'x',\n batch: 0, \n a: 1}",
            message:
                #"1: did is not a DID, such as "did:web:push.example.com" (and 2 more problems)"#),
    ]

    @Test func namesAMissingFile() {
        #expect(throws: FileError.self) { try Configuration.load(file: "/no/hark.json5", environment: [:]) }
    }
}
