import Foundation

@testable import Runtime

/// A folder of a test's own, with the files that a configuration names. Gone when the test is over.
final class ConfigurationFolder {
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
        try write(Self.key, to: "key.p8")
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to name: String) throws {
        let file = URL(fileURLWithPath: path).appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    func configuration(_ text: String, environment: [String: String] = [:]) throws -> Configuration {
        try Configuration.parse(Array(text.utf8), file: path + "/hark.json5", environment: environment)
    }

    /// What the configuration is refused with, without the folder's own name; nil when it is accepted.
    func refusal(of text: String, environment: [String: String] = [:]) -> String? {
        do {
            _ = try configuration(text, environment: environment)
            return nil
        } catch {
            return "\(error)".replacingOccurrences(of: path + "/", with: "")
        }
    }

    /// Made for these tests by openssl genpkey, used nowhere else.
    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWz6FXoiD3Tr1swrj
        HOhNnQpSEwC3/NjNaiBuMtZ3FWGhRANCAARBBpgslPMzxzusF3W2AwxT3bXnj649
        lrONZkXqy9KqYYKGnx77gJi7Tiu+yeDgkGcIRZ2FXfBGaCmJVx1SFabv
        -----END PRIVATE KEY-----
        """

    /// The same on P-384, which Apple does not use.
    static let foreignKey = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDB528waBRnP8VLsh8Fa
        FfG2aW+FSL1+FuSFmp5yihSJ9vnza5ND7nJSdRp5fW7ZgP2hZANiAARfYnEpCKEj
        55uxJmwaKkx+Or3j3pXRHYn34coZr9FPCYew0+sIG6+5LvuzBQx7foJGeJRw9Emn
        d7YwKJScZcmF6Ktfi1mGgt2BoOIaYgfrxTxY4MuLgg+GnI5G/Fe+GCg=
        -----END PRIVATE KEY-----
        """
}
