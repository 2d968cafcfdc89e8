import Glibc

/// The process's environment.
enum Environment {
    static var variables: [String: String] {
        ["HARK_APNS_HOST", "HARK_APNS_CA_FILE"].reduce(into: [:]) { variables, name in
            if let value = getenv(name) { variables[name] = String(cString: value) }
        }
    }
}
