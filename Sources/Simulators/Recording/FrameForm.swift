import ATProto
import Crypto

struct FrameForm: EveningForm {
    init(cast: EveningCast, plain: Bool) {}
    mutating func append(_ event: EveningEvent, to output: inout [UInt8]) {}
}
