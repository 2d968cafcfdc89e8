import Runtime
import Simulators

extension Command {
    static let simulateRecording = Command(
        name: "simulate recording", summary: "write an invented evening of grain as a recording",
        options: [
            Option(name: "--out", value: "FILE", help: "where it goes; what was there is replaced"),
            Option(name: "--format", value: "jetstream|frames", help: "its form (default: jetstream)"),
            Option(name: "--seed", value: "N", help: "the same seed gives the same bytes (default: 1)"),
            Option(name: "--events", value: "N", help: "how many events (default: 600)"),
            Option(name: "--people", value: "N", help: "how many take part (default: a twelfth of the events)"),
            Option(name: "--plain", value: nil, help: "creates alone and nothing wrong, for measuring"),
            Option(name: "--devices", value: "FILE", help: "write the people's devices too: did, token, answer"),
        ]
    ) { arguments in
        guard let path = arguments["--out"] else {
            throw OperatorError("--out FILE is missing: where the recording goes")
        }
        let name = arguments["--format"] ?? "jetstream"
        guard let format = RecordingFormat(rawValue: name) else {
            throw OperatorError("--format must be jetstream or frames, not \"\(name)\"")
        }
        let evening = try arguments.evening()
        do {
            let written = try evening.write(format, toFile: path)
            if let file = arguments["--devices"] { try evening.writeDevices(toFile: file) }
            Console.shared.print("\(written.events.of("event")), \(written.bytes.of("byte")): \(path.printable)")
        } catch {
            throw RunError("\(error)")
        }
    }
}

extension Arguments {
    /// The evening that `--seed`, `--people`, `--events` and `--plain` describe.
    func evening() throws(OperatorError) -> GrainEvening {
        GrainEvening(
            seed: UInt64(try number("--seed", in: 0...Int.max) ?? 1), people: try number("--people", in: 2...1_000_000),
            events: try number("--events", in: 1...100_000_000) ?? 600, plain: has("--plain"))
    }

    private func number(_ flag: String, in range: ClosedRange<Int>) throws(OperatorError) -> Int? {
        guard let text = self[flag] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw OperatorError("\(flag) must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

extension GrainEvening {
    /// A line a device, between tabs: the DID, the token, and `alive`, `unregistered` or `bad`.
    fileprivate func writeDevices(toFile path: String) throws {
        let lines = devices.map { device in
            let state =
                switch device.deadAnswer {
                case nil: "alive"
                case .unregistered: "unregistered"
                case .badDeviceToken: "bad"
                }
            return "\(device.did)\t\(device.token)\t\(state)\n"
        }
        try TextFile.write(lines.joined(), to: path)
    }
}
