import Glibc

/// `hark-bench NAME`: measures a hot path as a ratio against a peer that does the same work in the same minute.
@main
struct Bench {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.first {
            case "index": try await IndexBenchmark(Array(arguments.dropFirst())).run()
            default:
                say(
                    """
                    usage: hark-bench index [--events N] [--rounds N] [--on tmpfs|disk] [--format jetstream|frames]
                                                 decode → rows, beside a bare C-API loop
                    """)
                exit(2)
            }
        } catch {
            say("hark-bench: \(error)", to: 2)
            exit(1)
        }
    }
}
