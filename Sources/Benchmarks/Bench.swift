import Glibc

/// `hark-bench NAME`: measures a hot path as a ratio against a peer that does the same work in the same minute.
@main
struct Bench {
    static func main() async {
        setvbuf(stdout, nil, Int32(_IOLBF), 0)
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.first {
            case "index": try await IndexBenchmark(arguments.dropFirst()).run()
            case "decode": try DecodeBenchmark().run()
            default:
                print(
                    """
                    usage: hark-bench index [--events N] [--rounds N]   decode → rows, beside a bare C-API loop
                           hark-bench decode                            frames and lines a second, one thread
                    """)
                exit(2)
            }
        } catch {
            fputs("hark-bench: \(error)\n", stderr)
            exit(1)
        }
    }
}
