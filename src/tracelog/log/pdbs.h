/* pdbs.h - source lines from the PDBs of the modules that a log tells of, or Mono's files in their place. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_PDBS_H
#define TRACELOG_LOG_PDBS_H

#include "base/memory/map.h"
#include "tracelog/pdb/mdb.h"

struct tracelog_module_pdb {
	uint8_t *bytes; /* NULL: there is none that can be read */
	bool is_mdb;
	union {
		struct tracelog_pdb pdb;
		struct tracelog_mdb mdb;
	};
	bool reported; /* that lines of a method in it are damaged */
};

/* Written by pdbs.c. */
struct tracelog_pdbs {
	struct tw_reader *reporter; /* reports what is wrong with them; written when the log is opened */
	struct tracelog_module_pdb *items;
	size_t count, room;
	struct tw_map by_module; /* number of a module's object to its place */
	size_t looked;           /* bytes of methods' lines that were looked at, of all sessions */
	bool ended;              /* the limit of them was reported */
};

/* A place in a source. */
struct tracelog_source {
	uint32_t file; /* a name of the dictionary */
	struct tracelog_pdb_line at;
};

struct tracelog_log;
struct tracelog_object;

/* The place in a source of an offset in the IL of a function. False, and all zero, where no PDB tells it. */
bool tracelog_find_source(struct tracelog_log *log, const struct tracelog_object *function, int64_t il,
                          struct tracelog_source *source);

void tracelog_pdbs_free(struct tracelog_pdbs *pdbs);

#endif
