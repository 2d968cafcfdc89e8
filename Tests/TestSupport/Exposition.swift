/// Figures in Prometheus' text format, read strictly: whoever throws here would not be scraped.
///
/// Source: prometheus.io/docs/instrumenting/exposition_formats
public struct Exposition: Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    public struct Sample: Sendable {
        public var name: String
        public var labels: [String: String]
        public var value: Double
    }

    /// By name.
    public private(set) var types: [String: String] = [:]
    public private(set) var samples: [Sample] = []
    private var helps: Set<String> = []
    private var series: Set<[String]> = []
    private var family = ""
    private var ended: Set<String> = []

    public init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Failure(description: "no line break at the end") }
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            do { try read(line) } catch { throw Failure(description: "\(error): \(line)") }
        }
        try checkHistograms()
    }

    /// The value of one series; nil where there is none.
    public subscript(name: String, labels: KeyValuePairs<String, String>) -> Double? {
        samples.first { sample in
            sample.name == name && sample.labels.count == labels.count
                && labels.allSatisfy { sample.labels[$0.key] == $0.value }
        }?.value
    }

    private mutating func read(_ line: Substring) throws {
        if let help = line.wholeMatch(of: /# HELP ([a-z][a-z0-9_]*) \S.*/) {
            guard helps.insert(String(help.1)).inserted else { throw Failure(description: "a second HELP") }
            begin(String(help.1))
        } else if let type = line.wholeMatch(of: /# TYPE ([a-z][a-z0-9_]*) (counter|gauge|histogram)/) {
            let name = String(type.1)
            guard name == family, types[name] == nil else { throw Failure(description: "a TYPE out of place") }
            guard (type.2 == "counter") == name.hasSuffix("_total") else { throw Failure(description: "a wrong name") }
            types[name] = String(type.2)
        } else {
            try readSample(line)
        }
    }

    private mutating func begin(_ name: String) {
        ended.insert(family)
        family = name
    }

    private mutating func readSample(_ line: Substring) throws {
        let form =
            /([a-z][a-z0-9_]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,(?!\})|(?=\})))+)\})? (-?[0-9.eE+-]+|\+Inf)/
        guard let match = line.wholeMatch(of: form), let value = Double(match.3) else {
            throw Failure(description: "no sample")
        }
        let name = String(match.1)
        guard Self.family(of: name, types) == family, !ended.contains(family) else {
            throw Failure(description: "not of the metric before it")
        }
        var labels: [String: String] = [:]
        for pair in (match.2 ?? "").matches(of: /([a-z_]+)="((?:[^"\\]|\\.)*)"/) {
            guard labels.updateValue(Self.unescaped(pair.2), forKey: String(pair.1)) == nil else {
                throw Failure(description: "a label twice")
            }
        }
        let key = [name] + labels.map { "\($0.key)=\($0.value)" }.sorted()
        guard series.insert(key).inserted else { throw Failure(description: "a series twice") }
        samples.append(Sample(name: name, labels: labels, value: value))
    }

    private static func family(of name: String, _ types: [String: String]) -> String {
        for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) {
            let stem = String(name.dropLast(suffix.count))
            if types[stem] == "histogram" { return stem }
        }
        return name
    }

    private static func unescaped(_ text: Substring) -> String {
        var result = ""
        var rest = text
        while let next = rest.popFirst() {
            guard next == "\\", let escaped = rest.popFirst() else {
                result.append(next)
                continue
            }
            result.append(escaped == "n" ? "\n" : escaped)
        }
        return result
    }

    /// Buckets grow, end with +Inf, and agree with the count.
    private func checkHistograms() throws {
        for (name, type) in types where type == "histogram" {
            let buckets = samples.filter { $0.name == name + "_bucket" }
            for count in samples.filter({ $0.name == name + "_count" }) {
                let own = buckets.filter { $0.labels.filter { $0.key != "le" } == count.labels }
                let bounds = own.compactMap { Double($0.labels["le"]?.replacing("+Inf", with: "inf") ?? "") }
                guard own.count > 1, bounds.count == own.count, bounds == bounds.sorted(), bounds.last == .infinity,
                    own.map(\.value) == own.map(\.value).sorted(), own.last?.value == count.value,
                    samples.contains(where: { $0.name == name + "_sum" && $0.labels == count.labels })
                else { throw Failure(description: "\(name) is no histogram: \(own)") }
            }
        }
    }
}
