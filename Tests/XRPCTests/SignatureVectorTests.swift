import ATProto
import Crypto
import Foundation
import TestSupport
import Testing

@testable import XRPC

/// Signatures made by others (`Vectors/README.md`), on the way that a service token's signature takes.
@Suite(.fewAtATime) struct SignatureVectorTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let curve: Curve
        let key: PublicKey
        let id: Int64
        let comment: String
        let message: [UInt8]
        let signature: [UInt8]
        let isValid: Bool

        var testDescription: String { "\(curve) \(id): \(comment)" }
    }

    private static func read() throws -> [Vector] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Vectors/ecdsa.json")
        let text = try JSON.decode([UInt8](try Data(contentsOf: file)), as: .plain)
        return try (text["curves"]?.array ?? []).flatMap { part in
            let curve: Curve = part["curve"] == .string("k256") ? .k256 : .p256
            return try (part["groups"]?.array ?? []).flatMap { group in
                let key = try PublicKey(curve, point: try bytes(group["publicKey"]))
                return try (group["tests"]?.array ?? []).map { test in
                    Vector(
                        curve: curve, key: key, id: test["id"]?.integer ?? 0, comment: test["comment"]?.string ?? "",
                        message: try bytes(test["msg"]), signature: try bytes(test["sig"]),
                        isValid: test["valid"] == .bool(true))
                }
            }
        }
    }

    private static func bytes(_ value: Value?) throws -> [UInt8] { try Base16.decode(try #require(value?.string)) }

    @Test func eachIsJudgedAsItsMakersDo() throws {
        let vectors = try Self.read()
        #expect(vectors.count == 338)
        for vector in vectors {
            // As `ServiceToken.isSigned(by:)`: high-S passes.
            let verdict = vector.key.verify(vector.signature, of: vector.message, requireLowS: false)
            #expect(verdict == vector.isValid, "\(vector.testDescription)")
        }
    }

    /// Each of the signatures under a token of an account with the vector's key. None fits the token's text.
    @Test(arguments: [Curve.k256, .p256]) func noneOpensTheDoor(curve: Curve) async throws {
        let stage = try PushStage()
        let method = "social.hatk.push.listDevices"
        let keys = Dictionary(grouping: try Self.read().filter { $0.curve == curve && !$0.isValid }, by: \.key)
        for (index, (key, vectors)) in keys.enumerated() {
            // A DID has letters for digits.
            let name = String(index).map { String("abcdefghij".dropFirst($0.wholeNumberValue ?? 0).prefix(1)) }
            let account = try Account("v" + name.joined(), curve)
            stage.directory.put(account.did, key: key)
            for vector in vectors {
                let signed = try account.token(method).split(separator: ".").dropLast().joined(separator: ".")
                let token = "\(signed).\(Base64.encode(vector.signature, .url))"
                let answer = try await stage.call(method, token: token)
                #expect(answer.status == 401, "\(vector.testDescription)")
                #expect(answer.error == "InvalidToken", "\(vector.testDescription)")
            }
        }
        await stage.stop()
    }
}
