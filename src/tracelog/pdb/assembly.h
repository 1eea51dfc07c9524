/* assembly.h - what an assembly tells of its PDB.
 *
 * Sources: "PE/COFF" of Microsoft, and "PE-COFF.md" of the .NET runtime (entries of the debug directory). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_PDB_ASSEMBLY_H
#define TRACELOG_PDB_ASSEMBLY_H

#include "tracelog/pdb/pdb.h"

struct tracelog_assembly {
	bool has_id, has_module;
	uint8_t id[TRACELOG_PDB_ID];        /* that the PDB has */
	uint8_t module[TRACELOG_GUID];      /* that Mono's file has */
	struct tracelog_pdb_bytes embedded; /* the PDB itself, deflated; size 0: it is a file */
	uint32_t embedded_size;             /* of it when inflated */
};

/* False: the bytes are no assembly, or a damaged one. */
bool tracelog_assembly_open(struct tracelog_assembly *assembly, const uint8_t *bytes, size_t size);

/* The PDB that is in an assembly, to be freed; NULL: it is damaged, or larger than `most` bytes, or there is no
 * memory. */
uint8_t *tracelog_assembly_inflate(const struct tracelog_assembly *assembly, size_t most);

#endif
