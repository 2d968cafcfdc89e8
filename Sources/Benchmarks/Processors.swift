import CLinux
import Glibc

/// Which processor runs what: the counterpart has one of its own, so that it takes nothing from who is measured.
enum Processors {
    static var count: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
    /// The counterpart's; the other is the sender's. One and the same where there is but one.
    static let counterpart = 0
    static var sender: Int { min(1, count - 1) }

    /// Binds this process's threads to one processor. Threads and processes that they start inherit it.
    static func pin(to processor: Int) {
        guard let folder = opendir("/proc/self/task") else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let thread = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { atoi($0) }
            }
            if thread > 0 { _ = hark_pin_thread(thread, UInt32(processor)) }
        }
    }
}

/// User and system seconds.
func processorSeconds(ofChildren: Bool = false) -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t((ofChildren ? RUSAGE_CHILDREN : RUSAGE_SELF).rawValue), &usage)
    return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
}

/// Nanoseconds of the clock that all processes of a machine share.
func machineNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
