/// Figures in Prometheus' text format, version 0.0.4, metric by metric.
///
/// Whoever adds a series sees to it that its labels are of few values, and never hold a DID or a token.
///
/// Source: prometheus.io/docs/instrumenting/exposition_formats
package struct MetricsText: Sendable {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package typealias Labels = KeyValuePairs<String, String>

    package private(set) var text = ""

    package init() {}

    /// One value of a metric, told apart from the others by its labels.
    package struct Sample: Sendable {
        package var value: Int
        package var labels: Labels

        package init(_ value: Int, _ labels: Labels = [:]) {
            self.value = value
            self.labels = labels
        }
    }

    /// Numbers that only grow while the process lives. The name ends in `_total`.
    package mutating func counter(_ name: String, _ help: String, _ samples: [Sample]) {
        head(name, help, "counter")
        for sample in samples { line(name, Self.text(sample.labels), "\(sample.value)") }
    }

    package mutating func counter(_ name: String, _ help: String, _ value: Int) {
        counter(name, help, [Sample(value)])
    }

    /// Numbers that come and go.
    package mutating func gauge(_ name: String, _ help: String, _ samples: [Sample]) {
        head(name, help, "gauge")
        for sample in samples { line(name, Self.text(sample.labels), "\(sample.value)") }
    }

    package mutating func gauge(_ name: String, _ help: String, _ value: Int) {
        gauge(name, help, [Sample(value)])
    }

    /// Times that were counted by class.
    package struct Histogram: Sendable {
        package var labels: Labels
        /// The upper bounds of the classes, growing.
        package var bounds: [Duration]
        /// How many times fell into each class: one more than there are bounds, the last for what is longer than all.
        package var classes: [Int]
        /// All times together.
        package var sum: Duration

        package init(labels: Labels, bounds: [Duration], classes: [Int], sum: Duration) {
            self.labels = labels
            self.bounds = bounds
            self.classes = classes
            self.sum = sum
        }
    }

    /// Times, in seconds. The name ends in `_seconds`.
    package mutating func histogram(_ name: String, _ help: String, _ series: [Histogram]) {
        head(name, help, "histogram")
        for histogram in series {
            var count = 0
            for (index, bound) in histogram.bounds.enumerated() {
                count += histogram.classes[index]
                bucket(name, histogram.labels, Self.seconds(bound), count)
            }
            count += histogram.classes.dropFirst(histogram.bounds.count).reduce(0, +)
            bucket(name, histogram.labels, "+Inf", count)
            line(name + "_sum", Self.text(histogram.labels), Self.seconds(histogram.sum))
            line(name + "_count", Self.text(histogram.labels), "\(count)")
        }
    }

    private mutating func bucket(_ name: String, _ labels: Labels, _ bound: String, _ count: Int) {
        line(name + "_bucket", Self.text(labels, and: ("le", bound)), "\(count)")
    }

    private mutating func head(_ name: String, _ help: String, _ type: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private mutating func line(_ name: String, _ labels: String, _ value: String) {
        text += "\(name)\(labels) \(value)\n"
    }

    private static func text(_ labels: Labels, and last: (key: String, value: String)? = nil) -> String {
        let pairs = (labels.map { $0 } + [last].compactMap { $0 }).map { "\($0.key)=\"\(escaped($0.value))\"" }
        return pairs.isEmpty ? "" : "{" + pairs.joined(separator: ",") + "}"
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    private static func seconds(_ duration: Duration) -> String { "\(duration / .seconds(1))" }
}
