import Glibc

/// What the numbers say that pushes carry in `data`, as `"stamp":"…"`: nanoseconds at which `push.send` was called, or
/// places in the order of due time.
struct StampRecord {
    static let key = "stamp"
    private static let mark = Array(#""stamp":""#.utf8)

    private var latencies: [UInt32] = []
    private var highest: UInt64 = 0
    private var displacement: UInt64 = 0
    private var count = 0

    /// Small numbers are places, large ones times.
    private static let leastTime: UInt64 = 1 << 30

    mutating func note(_ body: UnsafeRawBufferPointer) {
        guard let stamp = Self.stamp(in: body) else { return }
        count += 1
        if stamp >= Self.leastTime {
            latencies.append(UInt32(clamping: (machineNanoseconds() - min(stamp, machineNanoseconds())) / 1000))
        } else {
            displacement = max(displacement, highest - min(stamp, highest))
            highest = max(highest, stamp)
        }
    }

    /// Microseconds, and how many places a push came behind a later one at most.
    var report: String {
        let sorted = latencies.sorted()
        func quantile(_ share: Double) -> UInt32 {
            sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
        }
        return
            "stamps \(count) p50 \(quantile(0.5)) p99 \(quantile(0.99)) max \(sorted.last ?? 0) displaced \(displacement)"
    }

    private static func stamp(in body: UnsafeRawBufferPointer) -> UInt64? {
        guard body.count > mark.count else { return nil }
        for start in 0..<body.count - mark.count
        where body[start + 1] == mark[1] && mark.indices.allSatisfy({ body[start + $0] == mark[$0] }) {
            return body[(start + mark.count)...].prefix { (0x30...0x39).contains($0) }
                .reduce(0) { $0 &* 10 &+ UInt64($1 - 0x30) }
        }
        return nil
    }
}
