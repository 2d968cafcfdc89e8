import Synchronization
import TestSupport
import Testing

@testable import Push

/// What operators see of the connections to Apple.
@Suite(.fewAtATime, .timeLimit(.minutes(10))) struct ChannelFiguresTests {
    @Test func tellsWhatIsOpen() async throws {
        let arrived = Signal()
        let bench = try Bench { request in
            if request.number == 1 { return request.answer(200) }
            // The others are left without an answer.
            if request.number == 4 { arrived.set() }
        }
        let unused = await bench.service.channelFigures()
        #expect(unused.map(\.channel) == ["apns"])
        #expect(unused.first?.connections == 0 && unused.first?.streams == 0 && unused.first?.tokenRenewals == 0)

        try bench.register(deviceTokens(1))
        try bench.send()
        #expect(await bench.drain() == 0)
        try bench.send(3, from: 1)
        await arrived.wait()
        let busy = await bench.service.channelFigures()
        #expect(busy.first?.connections == 1 && busy.first?.streams == 3)

        var other = bench.configuration
        other.keyID = "NEWKEY0001"
        try bench.service.reloadKey(other)
        #expect(await bench.service.channelFigures().first?.tokenRenewals == 1)
        await bench.service.stop(deadline: .zero)
        #expect(await bench.service.channelFigures().isEmpty)
    }
}
