// SQLite's variadic calls and its destructor macros, as functions that Swift can call.
#pragma once
#include <sqlite3.h>

static inline int csqlite_config(sqlite3 *database, int option, int value) {
    int now = 0;
    return sqlite3_db_config(database, option, value, &now);
}
// The bytes are copied before these return.
static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *text) {
    return sqlite3_bind_text(statement, index, text, -1, SQLITE_TRANSIENT);
}

enum { csqlite_CONSTRAINT_UNIQUE = SQLITE_CONSTRAINT_UNIQUE };
