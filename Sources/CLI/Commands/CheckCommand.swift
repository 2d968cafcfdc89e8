import Hooks
import Runtime

extension Command {
    static let check = Command(
        name: "check", summary: "say what would run, or what is wrong with it",
        options: [.config, .database],
        notes: ["Reads configuration, lexicons and Apple's key, and opens or makes the database. Sends nothing."]
    ) { arguments in
        let configuration = try arguments.configuration()
        let kept = try KeptCollections(configuration, hooks: hooks)
        let tokens = try DeviceTokens(database: configuration.database)
        defer { tokens.close() }
        let devices = try tokens.list(did: nil).count
        let console = Console.shared
        console.print("database    \(configuration.database.printable), \(devices.of("device"))")
        console.print("lexicons    \(kept.folder?.printable ?? "no folder found")")
        console.print("collections \(list(kept.described + kept.named))")
        for hook in kept.hooks {
            let wanted = hook.collections.isEmpty ? "everything that is kept" : list(hook.collections)
            console.print("hook        \(hook.name): \(wanted)")
        }
        console.print("push        \(configuration.push?.aim ?? "off: the configuration has no push section")")
        if let push = configuration.push { console.print("follows     \(push.followsText(kept))") }
    }

    private static func list(_ names: [String]) -> String {
        names.isEmpty ? "none" : names.joined(separator: ", ").printable
    }
}
