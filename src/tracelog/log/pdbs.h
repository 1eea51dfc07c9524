/* pdbs.h - source lines from the PDBs of the modules that a log tells of. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_PDBS_H
#define TRACELOG_LOG_PDBS_H

#include "base/memory/map.h"
#include "tracelog/pdb/pdb.h"

struct tracelog_module_pdb {
	uint8_t *bytes; /* NULL: there is none that can be read */
	struct tracelog_pdb pdb;
};

/* Written by pdbs.c. */
struct tracelog_pdbs {
	struct tracelog_module_pdb *items;
	size_t count, room;
	struct tw_map by_module; /* number of a module's object to its place */
};

struct tracelog_log;
struct tracelog_object;

/* The place in a source of an offset in the IL of a function: its file, a name of the dictionary, and its line. False
 * where no PDB tells it. */
bool tracelog_find_source(struct tracelog_log *log, const struct tracelog_object *function, int64_t il, uint32_t *file,
                          uint32_t *line);

void tracelog_pdbs_free(struct tracelog_pdbs *pdbs);

#endif
