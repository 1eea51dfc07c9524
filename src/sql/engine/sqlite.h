/* sqlite.h - SQLite's functions: of the library, once it is loaded, or of the program that loads the extension. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_ENGINE_SQLITE_H
#define SQL_ENGINE_SQLITE_H

#include <sqlite3ext.h>

/* SQLite's convention: every function is a macro that looks here. */
extern const sqlite3_api_routines *sqlite3_api;

/* The first version that has all functions that are called (sqlite3_vtab_in(), sqlite3_error_offset()). */
enum { SQL_SQLITE_LEAST = 3038000 };

/* Loads the library. Returns NULL, or what is missing, in words. Call it before there are threads. */
const char *sql_sqlite_load(void);

#endif
