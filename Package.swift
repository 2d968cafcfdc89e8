// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "hark",
    products: [
        .executable(name: "hark", targets: ["CLI"]),
        .executable(name: "hark-bench", targets: ["Benchmarks"]),
    ],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CSecp256k1", pkgConfig: "libsecp256k1", providers: [.apt(["libsecp256k1-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .target(name: "CMicrohttpdAnswers", dependencies: ["CMicrohttpd"]),
        .systemLibrary(name: "CLinux"),

        .target(name: "Crypto", dependencies: ["COpenSSL", "CSecp256k1"]),
        .target(name: "ATProto", dependencies: ["Crypto"]),
        .target(name: "HookKit", dependencies: ["ATProto"]),
        .target(name: "Storage", dependencies: ["ATProto", "Crypto", "CSQLite"]),
        .target(name: "Net", dependencies: ["Crypto", "COpenSSL", "CNghttp2", "CCurl", "CLinux"]),
        .target(name: "Identity", dependencies: ["Net", "ATProto", "Crypto"]),
        .target(name: "Push", dependencies: ["Storage", "HookKit", "Net", "Crypto"]),
        .target(
            name: "XRPC",
            dependencies: [
                "Storage", "Identity", "HookKit", "ATProto", "Crypto", "CMicrohttpd", "CMicrohttpdAnswers", "CLinux",
            ],
            exclude: ["Lexicons"],
            // Built into the program, so that a copied binary needs no files beside it.
            resources: ["icon.svg", "page.css", "page.html", "page.js", "sign_in.html"].map {
                .embedInCode("Admin/Page/\($0)")
            }),
        .target(name: "Indexer", dependencies: ["Storage", "HookKit", "ATProto"]),
        .target(name: "Simulators", dependencies: ["XRPC", "Net", "Crypto", "ATProto"]),
        .target(name: "Hooks", dependencies: ["HookKit"], path: "Hooks", resources: [.copy("Lexicons")]),
        .target(
            name: "Runtime",
            dependencies: ["Indexer", "Push", "XRPC", "Identity", "Storage", "HookKit", "Net", "ATProto", "Crypto"]),
        .executableTarget(name: "CLI", dependencies: ["Runtime", "Hooks", "Simulators"]),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "Runtime", "Hooks", "Simulators", "Push", "XRPC", "Identity", "Storage", "HookKit", "Net", "ATProto",
                "Crypto", "CSQLite", "COpenSSL", "CNghttp2", "CLinux",
            ]),

        .target(name: "TestSupport", dependencies: ["ATProto"], path: "Tests/TestSupport"),
        .testTarget(name: "CryptoTests", dependencies: ["Crypto"]),
        .testTarget(name: "ATProtoTests", dependencies: ["ATProto", "Crypto"]),
        .testTarget(name: "StorageTests", dependencies: ["Storage"]),
        .testTarget(name: "NetTests", dependencies: ["Net", "TestSupport"]),
        .testTarget(name: "IdentityTests", dependencies: ["Identity", "ATProto", "Net", "Simulators", "TestSupport"]),
        .testTarget(
            name: "XRPCTests",
            dependencies: ["XRPC", "Identity", "Storage", "Simulators", "ATProto", "Crypto", "TestSupport"],
            exclude: ["Vectors"]),
        .testTarget(
            name: "PushTests", dependencies: ["Push", "Simulators", "TestSupport"], exclude: ["Servers"]),
        .testTarget(name: "IndexerTests", dependencies: ["Indexer", "Crypto", "TestSupport"]),
        .testTarget(name: "SimulatorsTests", dependencies: ["Simulators", "ATProto", "Crypto", "Net", "TestSupport"]),
        .testTarget(name: "HooksTests", dependencies: ["Hooks", "Indexer", "TestSupport"]),
        .testTarget(
            name: "RuntimeTests",
            dependencies: ["Runtime", "XRPC", "Hooks", "Simulators", "Storage", "ATProto", "TestSupport"]),
        .testTarget(
            name: "CLITests",
            dependencies: ["CLI", "XRPC", "Simulators", "Storage", "ATProto", "Crypto", "TestSupport"],
            exclude: ["Python"]),
    ],
    swiftLanguageModes: [.v6]
)

// SwiftPM compiles a target anew when a module that it names has changed, and not for one further down, though the layout
// of a type may come from there: what was compiled before would then corrupt memory. So each target names all below it.
var below: [String: Set<String>] = [:]
for target in package.targets {
    let named = target.dependencies.compactMap { if case .byNameItem(let name, _) = $0 { name } else { nil } }
    let all = named.reduce(into: Set(named)) { $0.formUnion(below[$1] ?? []) }
    below[target.name] = all
    target.dependencies = all.sorted().map { .byName(name: $0) }
}

// One set of strict settings for every Swift target of the package.
for target in package.targets where target.type != .system {
    target.swiftSettings = [.enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility")]
}
