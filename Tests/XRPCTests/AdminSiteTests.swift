import Synchronization
import Testing

@testable import XRPC

/// Who gets to see and do what at `/_admin`, and how its answers are guarded.
@Suite struct AdminSiteTests {
    private typealias Headers = KeyValuePairs<String, String>
    private static let bearer = "Bearer " + AdminStage.token

    @Test func isOffUnlessThereIsAToken() async throws {
        let stage = try PushStage()
        for path in ["/_admin", "/_admin/", "/_admin/page.js", "/_admin/api/overview", "/_admin/sign-in"] {
            #expect(try await WireClient.ask(stage.server.port, "GET", path).status == 404)
        }
        await stage.stop()
    }

    @Test(arguments: [
        "", "15-characters-x", String(repeating: "x", count: 257), "has spaces in between", "täglich-täglich-1",
    ])
    func refusesPoorTokens(token: String) {
        let error = #expect(throws: ServerError.self) { try AdminToken(token) }
        #expect(token.isEmpty || error?.description.contains(token) == false)
    }

    @Test func aTokenIsNeverShown() throws {
        let token = try AdminToken(AdminStage.token)
        var text = "\(token) \(String(reflecting: token))"
        dump(token, to: &text)
        #expect(!text.contains("horse"))
    }

    @Test func asksForTheTokenAndLetsIn() async throws {
        let stage = try AdminStage()
        let form = try await stage.ask("GET", "")
        #expect(form.status == 401)
        #expect(
            form.headers["www-authenticate"]?.hasPrefix("Bearer") == true, "browsers would ask for Basic themselves")
        #expect(form.text.contains("type=\"password\""))

        let entered = try await stage.signIn()
        #expect(entered.status == 303)
        #expect(entered.headers["location"] == "/_admin")
        let cookie = entered.headers["set-cookie", default: ""]
        #expect(cookie.hasSuffix("; Path=/_admin; Max-Age=43200; HttpOnly; SameSite=Strict"), "\(cookie)")
        #expect(!cookie.contains(AdminStage.token))

        let session = String(cookie.prefix { $0 != ";" })
        let page = try await stage.ask("GET", "", ["Cookie": "other=1; \(session)"])
        #expect(page.status == 200)
        #expect(page.text.contains("Dead letters"))
        #expect(try await stage.ask("GET", "/api/overview", ["Cookie": session]).status == 200)

        let left = try await stage.ask(
            "POST", "/sign-out", ["Cookie": session, "Origin": AdminStage.origin], body: "")
        #expect(left.status == 303)
        #expect(left.headers["set-cookie"]?.contains("Max-Age=0") == true)
        #expect(try await stage.ask("GET", "/api/overview", ["Cookie": session]).status == 401, "the session has ended")
        await stage.stop()
    }

    @Test func aCookieIsSecureBehindTLS() async throws {
        let stage = try AdminStage()
        for headers: Headers in [["Origin": "https://localhost"], ["Sec-Fetch-Site": "same-origin"], [:]] {
            let answer = try await stage.signIn(AdminStage.token, headers)
            #expect(answer.headers["set-cookie"]?.hasSuffix("; Secure") == true)
        }
        await stage.stop()
    }

    @Test func sessionsCannotBeMadeUp() async throws {
        let stage = try AdminStage()
        let other = AdminSessions(try AdminToken("another-token-entirely"))
        let own = AdminSessions(try AdminToken(AdminStage.token))
        let now = Int64(1_700_000_000)
        let session = try own.begin(now: now)
        #expect(own.isValid(session, now: now))
        #expect(!own.isValid(session, now: now + AdminSessions.lifetime), "it has expired")
        #expect(!own.isValid(session, now: now - 1), "its clock is not this one's")
        #expect(!other.isValid(session, now: now), "the token has changed")
        let parts = session.split(separator: ".").map(String.init)
        let later = "\(now + 60).\(parts[1]).\(parts[2])"
        let forgeries = [
            later, session + "A", String(session.dropLast()), parts[0], "..", "", "\(parts[0]).\(parts[1]).",
            "9223372036854775807.\(parts[1]).\(parts[2])", String(repeating: "a.", count: 1000),
        ]
        for forgery in forgeries {
            #expect(!own.isValid(forgery, now: now), "\(forgery)")
            #expect(try await stage.ask("GET", "/api/overview", ["Cookie": "hark_admin=\(forgery)"]).status == 401)
        }
        #expect(stage.desk.calls.isEmpty)
        await stage.stop()
    }

    @Test func slowsDownWhoGuesses() async throws {
        let stage = try AdminStage()
        let session = try await stage.session()
        for _ in 0..<5 { #expect(try await stage.signIn("wrong-wrong-wrong-wrong").status == 401) }
        let refused = try await stage.signIn("wrong-wrong-wrong-wrong")
        #expect(refused.status == 429)
        #expect(refused.headers["retry-after"].flatMap { Int($0) } ?? 0 > 0)
        // Not even the right one, lest the answer tell: by whichever way it comes.
        #expect(try await stage.signIn().status == 429)
        let bearer: Headers = ["Authorization": Self.bearer]
        #expect(try await stage.ask("GET", "/api/overview", bearer).status == 429)
        // Who is in stays in, and another address is not concerned.
        #expect(try await stage.ask("GET", "/api/overview", ["Cookie": session]).status == 200)
        let elsewhere: Headers = ["Authorization": Self.bearer, "X-Forwarded-For": "192.0.2.7"]
        #expect(try await stage.ask("GET", "/api/overview", elsewhere).status == 200)
        await stage.stop()
    }

    @Test func theRightTokenIsNoTry() async throws {
        let stage = try AdminStage()
        for _ in 0..<12 {
            #expect(try await stage.ask("GET", "/api/overview", ["Authorization": Self.bearer]).status == 200)
        }
        await stage.stop()
    }

    /// What a page of another site could make a browser send, with the session's cookie or without the browser's word.
    @Test(
        arguments: [
            ["Origin": "https://evil.example"], ["Origin": "null"], ["Origin": "http://localhost.evil.example"],
            ["Origin": "http://localhost:81"], ["Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"],
            ["Sec-Fetch-Site": "same-site"], ["Sec-Fetch-Site": "none"], [:],
        ] as [[String: String]])
    func actsForItsOwnPageAlone(_ word: [String: String]) async throws {
        let stage = try AdminStage()
        var headers = [("Cookie", try await stage.session()), ("Content-Type", "application/json")]
        headers += word.map { ($0.key, $0.value) }
        let answer = try await WireClient(port: stage.push.server.port).ask(
            "POST", "/_admin/api/retry", list: headers, body: Array(#"{"all":true}"#.utf8))
        #expect(answer.status == 403)
        #expect(answer.error == "Forbidden")
        #expect(stage.desk.calls.isEmpty)
        if word["Origin"] != nil || word["Sec-Fetch-Site"] == "same-site" {
            let headers = word.map { ($0.key, $0.value) }
            let entered = try await WireClient(port: stage.push.server.port).ask(
                "POST", "/_admin/sign-in", list: headers, body: Array("token=\(AdminStage.token)".utf8))
            #expect(entered.status == 403)
            #expect(entered.headers["set-cookie"] == nil)
        }
        await stage.stop()
    }

    @Test func actsForThePageBehindAProxy() async throws {
        let stage = try AdminStage()
        let session = try await stage.session()
        let json = ("Content-Type", "application/json")
        for word in [
            [("Sec-Fetch-Site", "same-origin")], [("Origin", "http://localhost")],
            [("Origin", "https://push.example.com"), ("X-Forwarded-Host", "push.example.com")],
        ] {
            let answer = try await WireClient(port: stage.push.server.port).ask(
                "POST", "/_admin/api/retry", list: [("Cookie", session), json] + word,
                body: Array(#"{"ids":[3]}"#.utf8))
            #expect(answer.status == 200)
        }
        #expect(stage.desk.calls == ["retry 3", "retry 3", "retry 3"])
        await stage.stop()
    }

    @Test func handsOnWhatIsAsked() async throws {
        let stage = try AdminStage()
        let token: Headers = ["Authorization": Self.bearer]
        let json: Headers = ["Authorization": Self.bearer, "Content-Type": "application/json; charset=utf-8"]
        for path in [
            "/api/dead", "/api/dead?before=7", "/api/devices?did=did%3Aplc%3Aa&after=1+x", "/api/explain?uri=a%2Fb",
        ] {
            #expect(try await stage.ask("GET", path, token).status == 200)
        }
        #expect(try await stage.ask("POST", "/api/drop", json, body: #"{"ids":[1,2]}"#).status == 200)
        #expect(try await stage.ask("POST", "/api/drop", json, body: #"{"all":true}"#).status == 200)
        #expect(
            stage.desk.calls == [
                "dead before 0", "dead before 7", "devices did:plc:a 1 x", "explain a/b", "drop 1 2",
                "drop all that are dead",
            ])
        await stage.stop()
    }

    @Test(
        arguments: [
            ("GET", "/api/dead?before=x", nil, 400), ("GET", "/api/explain", nil, 400), ("GET", "/api/retry", nil, 405),
            ("POST", "/api/overview", "{}", 405), ("GET", "/api/nothing", nil, 404),
            ("DELETE", "/api/overview", nil, 405),
            ("OPTIONS", "", nil, 405), ("OPTIONS", "/api/retry", nil, 405), ("PUT", "/page.js", nil, 405),
            ("GET", "/sign-in", nil, 405), ("GET", "/nothing", nil, 404), ("POST", "/api/retry", "{}", 400),
            ("POST", "/api/retry", #"{"ids":[]}"#, 400), ("POST", "/api/retry", #"{"ids":[0]}"#, 400),
            ("POST", "/api/retry", #"{"ids":["1"]}"#, 400), ("POST", "/api/retry", #"{"ids":[1],"all":true}"#, 400),
            ("POST", "/api/retry", #"{"all":false}"#, 400), ("POST", "/api/retry", "ids=1", 400),
            ("POST", "/api/drop", "[" + String(repeating: "1,", count: 2000) + "1]", 400),
            ("GET", "/api/explain?uri=broken", nil, 500),
        ] as [(String, String, String?, Int)])
    func refuses(verb: String, path: String, body: String?, status: Int) async throws {
        let stage = try AdminStage()
        let answer = try await stage.ask(
            verb, path, ["Authorization": Self.bearer, "Content-Type": "application/json"], body: body)
        #expect(answer.status == status)
        #expect(answer.error != nil)
        #expect(!answer.text.contains("secret"))
        #expect(answer.headers["access-control-allow-origin"] == nil)
        #expect(stage.desk.calls.isEmpty)
        await stage.stop()
    }

    /// A form of another site can send no JSON.
    @Test func takesActionsAsJSONAlone() async throws {
        let stage = try AdminStage()
        for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
            let headers: Headers = ["Authorization": Self.bearer, "Content-Type": type]
            #expect(try await stage.ask("POST", "/api/retry", headers, body: #"{"all":true}"#).status == 415)
        }
        #expect(stage.desk.calls.isEmpty)
        await stage.stop()
    }

    @Test(arguments: ["", "/page.css", "/page.js", "/icon.svg", "/api/overview", "/api/nothing", "/nothing"])
    func guardsEveryAnswer(path: String) async throws {
        let stage = try AdminStage()
        for headers: Headers in [[:], ["Authorization": Self.bearer, "Origin": "https://evil.example"]] {
            let answer = try await stage.ask("GET", path, headers)
            let policy = try #require(answer.headers["content-security-policy"])
            #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'"))
            #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"))
            #expect(answer.headers["x-content-type-options"] == "nosniff")
            #expect(answer.headers["cache-control"]?.hasPrefix("no-") == true)
            #expect(answer.headers.keys.allSatisfy { !$0.hasPrefix("access-control") })
        }
        await stage.stop()
    }

    /// Whatever is inline would not run, and there is none.
    @Test func hasNothingInline() throws {
        for body in [AdminAsset.page, AdminAsset.form(saying: "Why.")] {
            let text = String(decoding: body, as: UTF8.self)
            #expect(!text.contains("<style") && !text.contains(" style=") && !text.contains("javascript:"))
            #expect(text.matches(of: /<script[^>]*>/).allSatisfy { $0.0.contains("src=\"/_admin/") })
            #expect(text.firstMatch(of: /\son[a-z]+=/) == nil)
        }
        let script = String(decoding: try #require(AdminAsset.named("/page.js")).body, as: UTF8.self)
        for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", ".style"] {
            #expect(!script.contains(way))
        }
    }

    @Test func anIPv6OriginIsAHostToo() async throws {
        let stage = try AdminStage()
        let answer = try await stage.signIn(
            AdminStage.token, ["Origin": "https://[2001:db8::1]:8443", "X-Forwarded-Host": "[2001:db8::1]:8443"])
        #expect(answer.status == 303)
        await stage.stop()
    }

    @Test func theFormIsReadAsFormsAreWritten() async throws {
        let stage = try AdminStage()
        #expect(try await stage.signIn("correct%2Dhorse%2dbattery").status == 303)
        for body in ["", "token=", "tokens=\(AdminStage.token)", "token=%zz", "token=%ff", "\u{1}"] {
            let answer = try await stage.ask("POST", "/sign-in", ["Origin": AdminStage.origin], body: body)
            #expect(answer.status == 401)
            #expect(answer.headers["set-cookie"] == nil)
        }
        await stage.stop()
    }
}
