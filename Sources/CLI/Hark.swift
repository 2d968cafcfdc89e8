import Glibc
import Runtime

@main
struct Hark {
    static func main() async {
        // A reader that goes away ends a write with an error, not the process.
        signal(SIGPIPE, SIG_IGN)
        occupyStandardDescriptors()
        exit(await run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    /// A database that was opened as descriptor 1 would take what is printed for its pages.
    private static func occupyStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", O_RDWR)
        }
    }

    enum ExitCode: Int32 {
        case done = 0
        case failed = 1
        case wrongUsage = 2
    }

    /// Runs one command line. What went wrong becomes one line on standard error; in a configuration, one for each problem.
    static func run(_ words: [String]) async -> ExitCode {
        let console = Console.shared
        do {
            try await answer(words, on: console)
            try console.checkOutput()
            return .done
        } catch is CancellationError {
            console.complain("stopped; what was done is kept, and the same command carries on from there")
            return .failed
        } catch let error as ConfigurationError {
            for line in error.lines { console.complain(line.printable) }
            return .wrongUsage
        } catch {
            console.complain("\(error)".printable)
            return OperatorError.isCause(of: error) ? .wrongUsage : .failed
        }
    }

    private static func answer(_ words: [String], on console: Console) async throws {
        if let help = try help(words) { return console.print(help) }
        let (command, count) = try Command.find(words)
        let arguments = try Arguments(words.dropFirst(count), for: command)
        if arguments.has(Option.help.name) { return console.print(command.usage) }
        try await command.run(arguments)
    }

    /// The answer to `hark help …`, `hark --help` and `hark --version`; nil for everything else.
    private static func help(_ words: [String]) throws(OperatorError) -> String? {
        switch words.first {
        case "--version", "version": return "hark \(Version.current)"
        case "--help", "-h": return Command.overview
        case "help":
            let topic = Array(words.dropFirst())
            guard !topic.isEmpty else { return Command.overview }
            let isGroup = topic.count == 1 && Command.all.contains { $0.name.hasPrefix(topic[0] + " ") }
            if isGroup {
                return Command.all.filter { $0.name.hasPrefix(topic[0] + " ") }.map(\.usage).joined(separator: "\n\n")
            }
            return try Command.find(topic).command.usage
        default: return nil
        }
    }
}
