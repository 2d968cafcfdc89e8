import Runtime

extension Command {
    static let demo = Command(
        name: "demo", summary: "show the whole way, with a stand-in for Apple in the same process",
        options: [
            Option(name: "--keep", value: nil, help: "keep the demo's folder, with its database"),
            Option(name: "--log", value: nil, help: "show the log on standard error"),
            .json,
        ],
        notes: [
            "Feeds Firehose/grain-evening.jsonl, or an evening written on the spot where that is not there.",
            "Fails when anything came out otherwise than the evening's own model says.",
        ]
    ) { arguments in
        let console = Console.shared
        let folder = try TemporaryFolder.make(prefix: "hark-demo")
        let keeps = arguments.has("--keep")
        defer { if !keeps { folder.remove() } }
        let showsLog = arguments.has("--log")
        let report = try await Demo(folder: folder.path) { if showsLog { console.log($0) } }.run()
        let isJSON = arguments.has(Option.json.name)
        for line in isJSON ? [report.json.text] : report.lines { console.print(line) }
        if keeps, !isJSON { console.print("kept        \(folder.path)") }
        let differences = report.differences()
        if let first = differences.first {
            let more = differences.count > 1 ? " (and \((differences.count - 1).of("more difference")))" : ""
            throw RunError("the demo went wrong: \(first)\(more)")
        }
        if !isJSON { console.print("\nAll of it as it should be.") }
    }
}
