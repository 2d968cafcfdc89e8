/// A value for each environment, found without hashing: every push looks for some.
struct ByEnvironment<Value> {
    private var production: Value
    private var sandbox: Value

    init(_ value: (APNsEnvironment) -> Value) {
        production = value(.production)
        sandbox = value(.sandbox)
    }

    subscript(environment: APNsEnvironment) -> Value {
        get { environment == .production ? production : sandbox }
        // In place: values hold arrays.
        _modify {
            if environment == .production { yield &production } else { yield &sandbox }
        }
    }

    var values: [Value] { [production, sandbox] }
}
