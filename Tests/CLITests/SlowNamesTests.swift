import Crypto
import Foundation
import Simulators
import TestSupport
import Testing

/// A name server that never answers, as any stranger's domain may have: in the place of the system's resolver.
private enum SlowNames {
    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <netdb.h>
        #include <string.h>
        #include <unistd.h>
        int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
            int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
                (int (*)(const char *, const char *, const struct addrinfo *, struct addrinfo **))
                    dlsym(RTLD_NEXT, "getaddrinfo");
            if (name && strcmp(name, "slow.example.com") == 0) sleep(60);
            return next(name, service, hints, found);
        }
        """

    static let compiler = "/usr/bin/cc"

    /// Compiles the library into `folder`.
    static func library(in folder: String) async throws -> String {
        let (file, library) = (folder + "/names.c", folder + "/names.so")
        try source.write(toFile: file, atomically: true, encoding: .utf8)
        let exit = try await ChildProcess(compiler, ["-shared", "-fPIC", "-o", library, file, "-ldl"]).exit
        try #require(exit.status == 0)
        return library
    }
}

@Suite(
    .fewAtATime,
    .enabled(if: FileManager.default.isExecutableFile(atPath: SlowNames.compiler), "there is no C compiler here"))
struct SlowNamesTests {
    private static let device = String(repeating: "cafe", count: 16)

    @Test func costTheirOwnRequestAlone() async throws {
        let folder = try ScratchFolder()
        let library = try await SlowNames.library(in: folder.path)
        var end = ContinuousClock.now
        try await ServeStage.run(variables: ["LD_PRELOAD": library]) { stage in
            let app = try SimulatedApp(server: "http://127.0.0.1:\(stage.port)", audience: ServeStage.did)
            defer { app.close() }
            let stranger = PLCIdentity(
                did: "did:web:slow.example.com", handle: "slow.example.com", privateKey: try .generate(.k256))
            #expect(try await app.register(Self.device, of: stranger).status == 504)
            // The thread that fetches is free again, though the system still looks for the name.
            for other in PLCIdentity.oddities(seed: GrainEvening.shipped.seed).prefix(4) {
                #expect(try await app.register(Self.device, of: other).status == 200)
            }
            end = .now
        }
        // Nor does the server wait for it when it is to stop.
        #expect(end.duration(to: .now) < .seconds(30))
    }
}
