/* sqlite.h - SQLite's functions: linked, or those of the program that loads the extension. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_SQLITE_H
#define SQL_SQLITE_H

#ifdef TW_SQL_EXTENSION
#include <sqlite3ext.h>
extern const sqlite3_api_routines *sqlite3_api; /* SQLite's convention: every function is a macro that looks here */
#else
#include <sqlite3.h>
#endif

#endif
