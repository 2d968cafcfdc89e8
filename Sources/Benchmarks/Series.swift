/// Rates and processor time of several runs.
struct Series: CustomStringConvertible {
    private var rates = Figures()
    private var costs = Figures()

    /// Pushes a second, the median.
    var rate: Double { rates.median }

    mutating func add(_ run: H2Load.Run) {
        rates.add(run.rate)
        costs.add(run.processorSeconds)
    }

    mutating func measure(_ pushes: Int, _ body: () async throws -> Void) async rethrows {
        let before = processorSeconds()
        let seconds = try await measured(body)
        add(
            H2Load.Run(
                rate: Double(pushes) / seconds,
                processorSeconds: (processorSeconds() - before) * 100_000 / Double(pushes)))
    }

    var description: String {
        "\(grouped(rates.median)) a second, \(rounded(costs.median)) CPU seconds per 100,000"
    }
}
