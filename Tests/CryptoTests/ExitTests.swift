import Crypto
import Foundation
import Testing

@Suite struct ExitTests {
    /// What all threads share stays whole while the process ends: they may go on hashing, signing, or end themselves.
    @Test(arguments: 1...24) func endsWhileThreadsUseOpenSSL(_: Int) async {
        await #expect(processExitsWith: .exitCode(3)) {
            let key = try PrivateKey.generate(.p256)
            let ready = DispatchSemaphore(value: 0)
            for thread in 0..<8 {
                Thread.detachNewThread {
                    _ = try? key.sign([UInt8(thread)])
                    ready.signal()
                    // Half of them end in the moment in which the process does.
                    let rounds = thread % 2 == 0 ? Int.max : thread
                    for _ in 0..<rounds { _ = try? key.sign([UInt8(thread)]) }
                }
            }
            for _ in 0..<8 { ready.wait() }
            exit(3)
        }
    }
}
