import Glibc

/// `hark-bench NAME`: measures a hot path as a ratio against a peer that does the same work in the same minute.
@main
struct Bench {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.first {
            case "index": try await IndexBenchmark(Array(arguments.dropFirst())).run()
            case "push": try await PushBenchmark(Array(arguments.dropFirst())).run()
            case "crash": try await CrashBenchmark(Array(arguments.dropFirst())).run()
            case "registration": try await RegistrationBenchmark(Array(arguments.dropFirst())).run()
            case CrashChild.command: try await CrashChild(Array(arguments.dropFirst())).run()
            case PushCounterpart.command: try PushCounterpart(Array(arguments.dropFirst())).run()
            default:
                say(
                    """
                    usage: hark-bench index [--events N] [--rounds N] [--on tmpfs|disk] [--format jetstream|frames]
                                                 decode → rows, beside a bare C-API loop
                           hark-bench push [--only wire|outbox|backlog|latency|delay] [--rounds N] [--pushes N] [--rows N]
                                           [--seconds N] [--window BYTES] [--on tmpfs|disk]
                                                 push.send → outbox → wire, beside h2load
                           hark-bench crash [--kills N] [--events N] [--seed N] [--on tmpfs|disk]
                                                 kill -9 at random instants: what is lost, what comes twice
                           hark-bench registration [--rounds N] [--seconds N] [--accounts N] [--connections N]
                                                 devices register under wrk, beside a server whose handler is empty
                    """)
                exit(2)
            }
        } catch {
            say("hark-bench: \(error)", to: 2)
            exit(1)
        }
    }
}
