#pragma once
#include <sqlite3.h>

// Before the first connection: no global allocation statistics, whose lock every malloc would take.
static inline int hark_sqlite_configure(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

// No statement may corrupt the file on purpose (writable_schema, shadow tables).
static inline int hark_sqlite_set_defensive(sqlite3 *db) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

// SQLITE_TRANSIENT, a cast that Swift cannot import: SQLite copies the bytes.
static inline int hark_sqlite_bind_text_copy(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 length) {
    return sqlite3_bind_text64(statement, index, text, length, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline int hark_sqlite_bind_blob_copy(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 length) {
    return sqlite3_bind_blob64(statement, index, bytes, length, SQLITE_TRANSIENT);
}
