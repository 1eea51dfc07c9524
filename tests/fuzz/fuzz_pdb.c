/* fuzz_pdb.c - any bytes as a portable PDB, as Mono's file, and as an assembly: what is found lies in them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "tracelog/pdb/assembly.h"
#include "tracelog/pdb/mdb.h"

#include <stdlib.h>
#include <string.h>

enum { INFLATED_MAX = 1 << 20, METHODS = 64 };

static const uint32_t offsets[] = {0, 7, 100, UINT32_MAX};

static void ask_pdb(const uint8_t *bytes, size_t size)
{
	struct tracelog_pdb pdb;
	if (!tracelog_pdb_open(&pdb, bytes, size))
		return;
	for (uint32_t method = 0; method < METHODS; method++) {
		for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
			struct tracelog_pdb_line line;
			struct tw_text name = {0};
			struct tracelog_pdb_search search = {.left = size};
			if (!tracelog_pdb_find(&pdb, 0x06000000 | method, offsets[i], &line, &search))
				continue;
			fuzz_require(method && method <= pdb.method_count, "a method that is there has the line");
			fuzz_require(line.line && line.document <= pdb.document_count, "and a document of its own");
			if (tracelog_pdb_name(&pdb, line.document, &name))
				fuzz_require(name.length > 0, "whose name is no empty one");
			tw_text_free(&name);
		}
	}
}

static void ask_mdb(const uint8_t *bytes, size_t size)
{
	struct tracelog_mdb mdb;
	if (!tracelog_mdb_open(&mdb, bytes, size))
		return;
	for (uint32_t method = 0; method < METHODS; method++) {
		for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
			struct tracelog_pdb_line line;
			struct tw_text name = {0};
			struct tracelog_pdb_search search = {.left = size};
			if (!tracelog_mdb_find(&mdb, 0x06000000 | method, offsets[i], &line, &search))
				continue;
			fuzz_require(line.line && line.document && line.document <= mdb.source_count,
			             "a line has a source");
			if (tracelog_mdb_name(&mdb, line.document, &name))
				fuzz_require(name.length > 0, "whose name is no empty one");
			tw_text_free(&name);
		}
	}
}

FUZZ_TARGET(pdb, const uint8_t *bytes, size_t size)
{
	struct tracelog_assembly assembly;
	if (size < 1)
		return 0;
	uint8_t *copy = malloc(size - 1 + (size == 1)); /* nothing behind the end is read */
	if (!copy)
		return 0;
	memcpy(copy, bytes + 1, size - 1);
	if (tracelog_assembly_open(&assembly, copy, size - 1) && assembly.embedded.size) {
		uint8_t *inflated = tracelog_assembly_inflate(&assembly, INFLATED_MAX);
		if (inflated)
			ask_pdb(inflated, assembly.embedded_size);
		free(inflated);
	}
	ask_pdb(copy, size - 1);
	ask_mdb(copy, size - 1);
	free(copy);
	return 0;
}
