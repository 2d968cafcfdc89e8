@main
struct Bench {
    static func main() async { print("hark-bench") }
}
