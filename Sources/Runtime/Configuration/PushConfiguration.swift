import Crypto
import Net
import Push
import Storage

/// How pushes are sent. Key `push`.
public struct PushConfiguration: Sendable {
    public var apns: APNsConfiguration
    /// The environment of a token that is registered without one: `production` or `sandbox`. Key `push.apns.environment`.
    public var environment: String
    /// The records that say who follows whom, where the file names them; nil: grain's. Key `push.follows`.
    public var follows: FollowRecords?
    /// Keys `push.maxAge`, `push.maxAttempts`, `push.backoff`, `push.lifetime`, `retention.push`.
    public var tuning = PushTuning()
    /// The default of `push.maxAge`.
    static let maximumAge = Duration.seconds(3600)

    public init(apns: APNsConfiguration, environment: String = "production") {
        self.apns = apns
        self.environment = environment
        tuning.maximumAge = Self.maximumAge
    }

    /// Where pushes go, for people.
    public var aim: String {
        if let standIn = apns.standIn { return "the stand-in at \(standIn)" }
        return "Apple (\(environment), unless a token says otherwise)"
    }
}

extension PushConfiguration {
    private static let maximumKeySize = 64 << 10

    /// From the file's `push`; nil, with what is wrong added to `problems`, when it cannot be used.
    init?(
        _ section: inout ConfigurationSection, in surroundings: Configuration.Surroundings,
        problems: inout [ConfigurationProblem]
    ) {
        var found: PushConfiguration?
        if var apns = section.section("apns") {
            found = PushConfiguration(apns: &apns, in: surroundings)
            problems += apns.finish()
        } else if !section.has("apns") {
            section.report("apns", "is missing: name Apple's key in it, or take push out to run without pushes")
        }
        let tuning = Self.tuning(&section, problems: &problems)
        let follows = FollowRecords(&section, problems: &problems)
        problems += section.finish()
        guard let found else { return nil }
        self = found
        self.tuning = tuning
        self.follows = follows
        if let follows { self.tuning.follows = follows }
    }

    private static func tuning(
        _ section: inout ConfigurationSection, problems: inout [ConfigurationProblem]
    ) -> PushTuning {
        var tuning = PushTuning()
        tuning.maximumAge = maximumAge
        let year = Duration.seconds(365 * 86_400)
        section.readLimit("maxAge", in: .seconds(1)...year, into: &tuning.maximumAge)
        tuning.maximumAttempts = section.integer("maxAttempts", in: 1...1000) ?? tuning.maximumAttempts
        tuning.lifetime = section.duration("lifetime", in: .seconds(1)...year) ?? tuning.lifetime
        guard var backoff = section.section("backoff") else { return tuning }
        let range = Duration.milliseconds(10)...(.seconds(86_400))
        tuning.backoff.base = backoff.duration("base", in: range) ?? tuning.backoff.base
        tuning.backoff.cap = backoff.duration("cap", in: range) ?? tuning.backoff.cap
        if tuning.backoff.cap < tuning.backoff.base {
            backoff.report("cap", "must not be shorter than base, which is \(tuning.backoff.base.configured)")
        }
        problems += backoff.finish()
        return tuning
    }

    private init?(apns section: inout ConfigurationSection, in surroundings: Configuration.Surroundings) {
        let keyFile = section.requiredText("keyFile", meaning: "the .p8 file that Apple hands out with a key")
        let keyPEM = keyFile.flatMap { Self.readKey($0.path(relativeTo: surroundings.folder), &section) }
        let keyID = section.requiredText(
            "keyId", meaning: "the 10 characters in the name of AuthKey_XXXXXXXXXX.p8", check: Self.idProblem)
        let teamID = section.requiredText(
            "teamId", meaning: "the 10 characters on Apple's membership page", check: Self.idProblem)
        let bundleID = section.requiredText(
            "bundleId", meaning: "the app's identifier, such as \"com.grain.app\"", check: Self.bundleProblem)
        let environment = section.text("environment") {
            $0 == "production" || $0 == "sandbox"
                ? nil : "must be \"production\" or \"sandbox\", not \"\($0.printable)\""
        }
        let standIn = Self.standIn(surroundings.environment, &section)
        let caFile = Self.caFile(surroundings.environment, &section)

        guard let keyPEM, let keyID, let teamID, let bundleID else { return nil }
        self.init(
            apns: APNsConfiguration(
                keyPEM: keyPEM, keyID: keyID, teamID: teamID, bundleID: bundleID, standIn: standIn, caFile: caFile),
            environment: environment ?? "production")
    }

    /// The key's text, once it is known to be a P-256 private key. What it holds is never reported.
    private static func readKey(_ path: String, _ section: inout ConfigurationSection) -> String? {
        do throws(FileError) {
            let bytes = try FileContents.read(path, limit: maximumKeySize)
            if let text = String(validating: bytes, as: UTF8.self), (try? PrivateKey(pem: text))?.curve == .p256 {
                return text
            }
            section.report(
                "keyFile", "\(path.printable) holds no P-256 private key in PEM: is it the .p8 that Apple handed out?")
        } catch {
            section.report("keyFile", "\(error): give the path of Apple's .p8, seen from this file's folder")
        }
        return nil
    }

    /// Apple's have ten capital letters and digits; those of stand-ins may be anything that a header can carry.
    private static func idProblem(_ text: String) -> String? {
        text.utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") }
            ? nil : "may not hold spaces, quotes or letters beyond ASCII"
    }

    private static func bundleProblem(_ text: String) -> String? {
        text.utf8.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
            ? nil : "may hold letters, digits, dots and hyphens only"
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    // MARK: For tests alone

    private static func standIn(_ environment: [String: String], _ section: inout ConfigurationSection) -> Endpoint? {
        guard let text = environment["HARK_APNS_HOST"], !text.isEmpty else { return nil }
        let endpoint = Endpoint(text)
        if endpoint == nil {
            section.report("", "cannot be aimed: HARK_APNS_HOST must be host:port, not \"\(text.printable)\"")
        }
        return endpoint
    }

    private static func caFile(_ environment: [String: String], _ section: inout ConfigurationSection) -> String? {
        guard let path = environment["HARK_APNS_CA_FILE"], !path.isEmpty else { return nil }
        do throws(FileError) {
            _ = try FileContents.read(path, limit: 1 << 20)
        } catch {
            section.report("", "cannot be aimed: HARK_APNS_CA_FILE: \(error)")
        }
        return path
    }
}
