import HookKit

/// Every hook that runs. A new one: a file beside this one, and its name in this list.
public let hooks: [Hook] = [
    onCommitFavorite,
    onCommitComment,
    onCommitFollow,
]
