@main
struct Hark {
    static func main() async { print("hark") }
}
