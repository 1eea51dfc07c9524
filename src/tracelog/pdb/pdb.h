/* pdb.h - source lines of methods, from a portable PDB.
 *
 * Sources: "Portable PDB v1.0: Format Specification" of the .NET runtime, and ECMA-335, partition II, 24.2
 * (metadata). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_PDB_PDB_H
#define TRACELOG_PDB_PDB_H

#include "base/memory/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRACELOG_PDB_ID = 20, TRACELOG_GUID = 16 }; /* bytes: of a GUID and a time; of a GUID */

struct tracelog_pdb_bytes {
	const uint8_t *bytes;
	size_t size;
};

/* Where the parts of a PDB are, in bytes that the caller keeps. */
struct tracelog_pdb {
	uint8_t id[TRACELOG_PDB_ID];
	struct tracelog_pdb_bytes blobs;
	const uint8_t *documents, *methods; /* rows */
	uint32_t document_count, method_count;
	size_t document_size, method_size; /* of a row */
	uint8_t blob_width, document_width, guid_width;
	const char *wrong; /* why it could not be opened: a constant */
};

/* A place in a source. */
struct tracelog_pdb_line {
	uint32_t document; /* its row, from 1 */
	uint32_t line;     /* from 1 */
	uint32_t column, end_line, end_column;
};

/* Looking for lines: what it may take, and whether those of the last method could not be read. */
struct tracelog_pdb_search {
	size_t left; /* bytes of methods' lines that may still be looked at, of all files together */
	bool damaged;
};

static inline void tracelog_pdb_spend(struct tracelog_pdb_search *search, size_t bytes)
{
	search->left -= bytes < search->left ? bytes : search->left;
}

/* Finds the parts. False: the bytes are no portable PDB, or a damaged one; `wrong` says so. */
bool tracelog_pdb_open(struct tracelog_pdb *pdb, const uint8_t *bytes, size_t size);

/* The GUID of the module whose metadata it is. False: there is none that can be read. */
bool tracelog_pdb_module(struct tracelog_pdb_bytes metadata, uint8_t guid[TRACELOG_GUID]);

/* The line of an offset in the intermediate language of a method, which a token of metadata tells. What the compiler
 * made without a line of its own belongs to the line before. False: there is none, or nothing more may
 * be looked at. */
bool tracelog_pdb_find(const struct tracelog_pdb *pdb, uint32_t token, uint32_t il, struct tracelog_pdb_line *line,
                       struct tracelog_pdb_search *search);

/* Adds the name of a document, as the compiler had it, to a text. False: it has none that can be read, or there is no
 * memory. */
bool tracelog_pdb_name(const struct tracelog_pdb *pdb, uint32_t document, struct tw_text *name);

#endif
