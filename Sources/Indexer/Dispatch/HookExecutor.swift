import Dispatch

/// Runs hooks on threads of their own, so that one that blocks holds up neither the others nor the runtime.
final class HookExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "hark.hooks", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
