import Hooks
import Runtime

extension Command {
    static let replay = Command(
        name: "replay", summary: "feed recordings, run the hooks, deliver the pushes",
        operands: .oneOrMore("FILE"), options: [.config, .database, .json],
        notes: [
            "A recording holds Jetstream lines, relay frames or a repo export: the content tells which.",
            "Feeding a recording again changes nothing and notifies nobody.",
            "SIGHUP makes it read Apple's key again.",
        ]
    ) { arguments in
        let console = Console.shared
        let configuration = try arguments.configuration()
        try Replay.check(arguments.operands)
        let assembly = try Assembly(configuration, hooks: hooks, purpose: .replaying) { console.log($0) }
        let reload = onReload(arguments, console) { try assembly.reloadKey($0) }
        defer { withExtendedLifetime(reload) {} }
        let summary = try await interruptible {
            let bar = ProgressBar(console)
            defer { bar.finish() }
            return try await Replay(assembly).run(arguments.operands) { bar.show($0) }
        } finally: {
            await assembly.stop()
        }
        if arguments.has(Option.json.name) {
            console.print(summary.json.text)
        } else {
            for line in summary.lines { console.print(line) }
        }
    }
}

extension ReplaySummary {
    /// `12 stale`, most first.
    var skippedReasons: [String] {
        skipped.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value.grouped) \($0.key)" }
    }

    /// The summary for people, a line a stage.
    var lines: [String] {
        let rate = Int(eventsPerSecond.rounded())
        var lines = [
            "events   \(events.grouped) (\(commits.of("commit"))) in \(indexing.shortSeconds): \(rate.grouped) a second",
            "records  \(created.grouped) created, \(updated.grouped) updated, \(deleted.grouped) deleted",
        ]
        if !skipped.isEmpty { lines += labelled("skipped  ", skippedReasons) }
        let resumed = resumedJobs > 0 ? " (\(resumedJobs.grouped) left by an earlier run)" : ""
        lines.append("hooks    \(hookRuns.of("run")), \(hookErrors.of("error"))\(resumed)")
        if pushIsOn {
            lines.append(
                "push     \(queued.grouped) queued, \(sent.grouped) sent, \(failed.grouped) failed, "
                    + "\(removed.of("dead token")) removed and \(dropped.grouped) dropped with them, "
                    + "all settled after \(total.shortSeconds)")
        } else {
            lines.append("push     off: the configuration has no push section")
        }
        return lines
    }
}
