// A hook file imports HookKit alone, and reads the record's values with it.
@_exported import ATProto
