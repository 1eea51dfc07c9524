/* mdb.h - source lines of methods, from the file that Mono's compilers write beside an assembly, "app.exe.mdb".
 *
 * Source: MonoSymbolFile of Mono's sources (Mono.CompilerServices.SymbolWriter), version 50. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_PDB_MDB_H
#define TRACELOG_PDB_MDB_H

#include "tracelog/pdb/pdb.h"

/* Where the parts are, in bytes that the caller keeps. */
struct tracelog_mdb {
	struct tracelog_pdb_bytes all;
	const uint8_t *guid;              /* of the module: TRACELOG_GUID bytes */
	const uint8_t *methods, *sources; /* rows */
	uint32_t method_count, source_count;
	int32_t line_base; /* of opcodes that move line and offset at once */
	uint32_t line_range, opcode_base;
	const char *wrong; /* why it could not be opened: a constant */
};

/* These do what those of pdb.h do. A document is a source's number, from 1. */
bool tracelog_mdb_open(struct tracelog_mdb *mdb, const uint8_t *bytes, size_t size);
bool tracelog_mdb_find(const struct tracelog_mdb *mdb, uint32_t token, uint32_t il, struct tracelog_pdb_line *line,
                       struct tracelog_pdb_search *search);
bool tracelog_mdb_name(const struct tracelog_mdb *mdb, uint32_t document, struct tw_text *name);

#endif
