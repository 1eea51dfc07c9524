/* assembly.c - what an assembly tells of its PDB. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/pdb/assembly.h"

#include "base/bytes/bytes.h"

#include <stdlib.h>
#include <zlib.h>

enum {
	HEADER_AT = 0x3c, /* where a file tells where its header is */
	FILE_HEADER = 24, /* bytes, with the signature before it */
	PE32 = 0x10b,     /* magic numbers of the header that follows */
	PE32_PLUS = 0x20b,
	DEBUG_DIRECTORY = 6,
	CLI_DIRECTORY = 14,
	CLI_HEADER = 16, /* bytes, up to where metadata are */
	SECTION = 40,    /* bytes */
	ENTRY = 28,      /* bytes of an entry of the debug directory */
	CODE_VIEW = 2,   /* types of entries */
	EMBEDDED = 17,
	PORTABLE = 0x504d, /* minor version of a CodeView entry of a portable PDB */
	GUID_AT = 4,       /* in its data, behind "RSDS" */
	GUID = 16,
	EMBEDDED_HEAD = 8 /* "MPDB", and the size of what is deflated */
};

/* A part of a file; NULL where the file ends before it. */
static const uint8_t *part(struct tracelog_pdb_bytes file, uint64_t at, uint64_t size)
{
	return at <= file.size && size <= file.size - at ? file.bytes + at : NULL;
}

static uint32_t word(const uint8_t *at)
{
	return tw_load32(at, false);
}

/* The bytes of a file that are loaded at an address; NULL: none are. */
static const uint8_t *loaded(struct tracelog_pdb_bytes file, const uint8_t *sections, unsigned count, uint32_t address,
                             uint32_t size)
{
	for (unsigned i = 0; i < count; i++) {
		const uint8_t *section = sections + (size_t)i * SECTION;
		uint32_t start = word(section + 12), raw_size = word(section + 16), raw = word(section + 20);
		if (address >= start && address - start < raw_size && size <= raw_size - (address - start))
			return part(file, (uint64_t)raw + (address - start), size);
	}
	return NULL;
}

static void take_entry(struct tracelog_assembly *assembly, struct tracelog_pdb_bytes file, const uint8_t *entry)
{
	uint32_t type = word(entry + 12), size = word(entry + 16);
	const uint8_t *data = part(file, word(entry + 24), size);
	bool portable = tw_load16(entry + 10, false) == PORTABLE;
	if (type == CODE_VIEW && portable && data && size >= GUID_AT + GUID && memcmp(data, "RSDS", GUID_AT) == 0) {
		assembly->has_id = true;
		memcpy(assembly->id, data + GUID_AT, GUID);
		memcpy(assembly->id + GUID, entry + 4, TRACELOG_PDB_ID - GUID);
	}
	if (type == EMBEDDED && data && size > EMBEDDED_HEAD && memcmp(data, "MPDB", 4) == 0) {
		assembly->embedded_size = word(data + 4);
		assembly->embedded = (struct tracelog_pdb_bytes){data + EMBEDDED_HEAD, size - EMBEDDED_HEAD};
	}
}

static void take_module(struct tracelog_assembly *assembly, struct tracelog_pdb_bytes file, const uint8_t *sections,
                        unsigned count, const uint8_t *entry)
{
	const uint8_t *header = loaded(file, sections, count, word(entry), CLI_HEADER), *metadata = NULL;
	const uint32_t size = header ? word(header + 12) : 0;
	if (header)
		metadata = loaded(file, sections, count, word(header + 8), size);
	assembly->has_module =
	    metadata && tracelog_pdb_module((struct tracelog_pdb_bytes){metadata, size}, assembly->module);
}

bool tracelog_assembly_open(struct tracelog_assembly *assembly, const uint8_t *bytes, size_t size)
{
	const struct tracelog_pdb_bytes file = {bytes, size};
	const uint8_t *at = part(file, HEADER_AT, 4), *header, *optional, *sections, *directory;
	*assembly = (struct tracelog_assembly){0};
	if (!at || memcmp(bytes, "MZ", 2) != 0 || !(header = part(file, word(at), FILE_HEADER)) ||
	    memcmp(header, "PE\0", 4) != 0)
		return false;
	const uint64_t behind = (uint64_t)word(at) + FILE_HEADER;
	const unsigned section_count = tw_load16(header + 6, false), optional_size = tw_load16(header + 20, false);
	optional = part(file, behind, optional_size);
	sections = part(file, behind + optional_size, (uint64_t)section_count * SECTION);
	if (!optional || !sections || optional_size < 2)
		return false;
	const unsigned magic = tw_load16(optional, false), directories = magic == PE32 ? 96 : 112;
	const unsigned entry = directories + 8 * DEBUG_DIRECTORY;
	if ((magic != PE32 && magic != PE32_PLUS) || entry + 8 > optional_size)
		return false;
	const uint32_t length = word(optional + entry + 4);
	directory = loaded(file, sections, section_count, word(optional + entry), length);
	for (uint32_t i = 0; directory && i < length / ENTRY; i++)
		take_entry(assembly, file, directory + (size_t)i * ENTRY);
	const unsigned cli = directories + 8 * CLI_DIRECTORY;
	if (cli + 8 <= optional_size)
		take_module(assembly, file, sections, section_count, optional + cli);
	return true;
}

uint8_t *tracelog_assembly_inflate(const struct tracelog_assembly *assembly, size_t most)
{
	const size_t size = assembly->embedded_size;
	z_stream z = {.next_in = (Bytef *)(uintptr_t)assembly->embedded.bytes,
	              .avail_in = (uInt)assembly->embedded.size,
	              .avail_out = (uInt)size};
	uint8_t *inflated = size && size <= most ? malloc(size) : NULL;
	if (!inflated || inflateInit2(&z, -MAX_WBITS) != Z_OK) {
		free(inflated);
		return NULL;
	}
	z.next_out = inflated;
	bool whole = inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_out == 0;
	inflateEnd(&z);
	if (whole)
		return inflated;
	free(inflated);
	return NULL;
}
