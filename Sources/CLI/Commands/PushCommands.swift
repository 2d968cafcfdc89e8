import Runtime

extension Command {
    static let pushSend = Command(
        name: "push send", summary: "send a notification by hand, and say what became of it on each device",
        options: [
            Option(name: "--did", value: "DID", help: "whose devices"),
            Option(name: "--title", value: "TEXT", help: "the title"),
            Option(name: "--subtitle", value: "TEXT", help: "Apple's subtitle"),
            Option(name: "--body", value: "TEXT", help: "the text"),
            Option(name: "--data", value: "KEY=VALUE", help: "a key of the payload beside aps", repeats: true),
            Option(name: "--collapse-id", value: "ID", help: "replaces the notification that has the same one"),
            Option(name: "--thread-id", value: "ID", help: "groups notifications on the device"),
            Option(name: "--category", value: "NAME", help: "a set of actions that the app has registered"),
            Option(name: "--sound", value: "NAME", help: "a sound file of the app's, or none (default: default)"),
            Option(name: "--badge", value: "N", help: "the number on the app's icon"),
            Option(name: "--priority", value: "NAME", help: "immediate, considerate or low"),
            Option(name: "--lifetime", value: "TIME", help: "how long it is tried (default: push.lifetime)"),
            Option(name: "--background", value: nil, help: "wake the app and show nothing"),
            Option(name: "--wait", value: "TIME", help: "how long to wait for outcomes (default: 30s)"),
            .json, .config, .database,
        ],
        notes: [
            "Queued as push.send does. A hark that runs on the database delivers it, within seconds; where none does,",
            "this one delivers what is due. Fails when a device was not reached, or none is registered.",
        ]
    ) { arguments in
        let message = try arguments.message()
        let patience = try arguments.time("--wait") ?? .seconds(30)
        let console = Console.shared
        let push = try DirectPush(try arguments.configuration()) { console.log($0) }
        let report = try await interruptible {
            try await push.send(message, patience: patience)
        } finally: {
            push.close()
        }
        let isJSON = arguments.has(Option.json.name)
        for line in isJSON ? [report.json.text] : report.lines { console.print(line) }
        if let failure = report.failure { throw RunError(failure) }
    }
}

extension Arguments {
    fileprivate func message() throws(OperatorError) -> DirectMessage {
        guard let did = self["--did"] else { throw OperatorError("--did DID is missing: whose devices") }
        var message = DirectMessage(did: did)
        message.title = self["--title"] ?? ""
        message.subtitle = self["--subtitle"]
        message.body = self["--body"] ?? ""
        message.collapseID = self["--collapse-id"]
        message.threadID = self["--thread-id"]
        message.category = self["--category"]
        message.sound = self["--sound"] ?? message.sound
        message.priority = self["--priority"]
        message.lifetime = try time("--lifetime")
        message.isBackground = has("--background")
        if let text = self["--badge"] {
            guard let badge = Int(text) else { throw OperatorError("--badge must be a number, not \"\(text)\"") }
            message.badge = badge
        }
        for (name, pair) in flags where name == "--data" {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw OperatorError("--data must be KEY=VALUE, not \"\(pair)\"")
            }
            guard message.data.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw OperatorError("--data has the key \"\(parts[0])\" twice")
            }
        }
        return message
    }

    /// The value of a flag that is a time with its unit.
    fileprivate func time(_ flag: String) throws(OperatorError) -> Duration? {
        guard let text = self[flag] else { return nil }
        guard let time = Duration(configured: text), time > .zero else {
            throw OperatorError("\(flag) must be a time, such as 30s or 5m, not \"\(text)\"")
        }
        return time
    }
}
