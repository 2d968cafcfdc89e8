import HookKit

/// Every hook that runs. A new one: add its file here and its name to this list.
public let hooks: [Hook] = []
