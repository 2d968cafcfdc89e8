/// What is known of a push token's form, whoever hands it in, and how much of one is ever shown.
public enum DeviceToken {
    /// How many digits an Apple token may have. Apple promises no length: today's have 64, those of Live Activities more,
    /// and stand-ins invent shorter ones.
    public static let appleDigits = 4...512

    /// Why a text cannot be one of Apple's tokens, which are written in hexadecimal; nil when it can. Never holds the text.
    ///
    /// Source: developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
    public static func problem(inApple token: String) -> String? {
        let digits = token.utf8
        guard digits.allSatisfy({ 0x30...0x39 ~= $0 || 0x41...0x46 ~= $0 || 0x61...0x66 ~= $0 }) else {
            return "the token is not one of apns's: hexadecimal digits"
        }
        if digits.count < appleDigits.lowerBound {
            return "the token is shorter than \(appleDigits.lowerBound) digits"
        }
        if digits.count > appleDigits.upperBound {
            return "the token is longer than \(appleDigits.upperBound) digits"
        }
        return nil
    }

    /// All that logs and lists show of a token: its last 8 characters, or half of it where that is less.
    public static func suffix(of token: String) -> String { String(token.suffix(min(8, token.count / 2))) }

    /// The same as SQL.
    static func suffixSQL(_ column: String) -> String {
        "substr(\(column), length(\(column)) - min(8, length(\(column)) / 2) + 1)"
    }
}
