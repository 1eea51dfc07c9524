/* debugfile.c - finding the separate file with a program's debug information. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf.h"

#include <elfutils/libdwelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* Where distributions install them. Source: GDB's manual, "Debugging Information in Separate Files". */
static const char debug_root[] = "/usr/lib/debug";

/* Where a file named by .gnu_debuglink can be: format of a path from root, directory, name. */
static const struct {
	const char *prefix;
	const char *middle;
} link_places[] = {
    {"", "/"},
    {"", "/.debug/"},
    {debug_root, "/"},
};

/* Bytes of a build id (what linkers write are 16 or 20), and of a path below debug_root made of it. */
enum { MAX_ID = 64, ID_PATH = 2 * MAX_ID + 32 };

static bool same_id(const struct tw_elf *a, const struct tw_elf *b, bool *known)
{
	const void *id_a, *id_b;
	ssize_t size_a = dwelf_elf_gnu_build_id(a->elf, &id_a), size_b = dwelf_elf_gnu_build_id(b->elf, &id_b);
	*known = size_a > 0 && size_b > 0;
	return *known && size_a == size_b && memcmp(id_a, id_b, (size_t)size_a) == 0;
}

static bool same_checksum(const struct tw_elf *debug, GElf_Word want)
{
	uLong sum = crc32(0, NULL, 0);
	unsigned char bytes[1 << 14];
	off_t offset = 0;
	ssize_t got;
	while ((got = pread(debug->fd, bytes, sizeof bytes, offset)) > 0) {
		sum = crc32(sum, bytes, (uInt)got);
		offset += got;
	}
	return got == 0 && sum == want;
}

/* A file of another build would give wrong names: the build ids must agree or, where one has none, the checksum (if
 * there is one). */
static bool take(const char *path, const struct tw_elf *program, const GElf_Word *checksum, struct tw_elf *debug)
{
	struct tw_symbols ignored = {.path = NULL};
	if (tw_elf_open(&ignored, debug, path) < 0)
		return false;
	bool known;
	bool same = same_id(program, debug, &known);
	if (!known)
		same = checksum && same_checksum(debug, *checksum);
	if (!same)
		tw_elf_close(debug);
	return same;
}

static bool open_by_id(const struct tw_elf *program, struct tw_elf *debug)
{
	const void *id;
	ssize_t size = dwelf_elf_gnu_build_id(program->elf, &id);
	if (size < 2 || size > MAX_ID)
		return false;
	const unsigned char *bytes = id;
	char path[sizeof debug_root + ID_PATH];
	int used = snprintf(path, sizeof path, "%s/.build-id/%02x/", debug_root, bytes[0]);
	for (ssize_t i = 1; i < size; i++)
		used += snprintf(path + used, sizeof path - (size_t)used, "%02x", bytes[i]);
	snprintf(path + used, sizeof path - (size_t)used, ".debug");
	return take(path, program, NULL, debug);
}

static bool open_by_link(const char *directory, const struct tw_elf *program, struct tw_elf *debug)
{
	GElf_Word checksum;
	const char *name = dwelf_elf_gnu_debuglink(program->elf, &checksum);
	if (!name || !name[0] || strchr(name, '/'))
		return false;
	for (size_t i = 0; i < sizeof link_places / sizeof link_places[0]; i++) {
		char path[PATH_MAX];
		int length = snprintf(path, sizeof path, "%s%s%s%s", link_places[i].prefix, directory,
		                      link_places[i].middle, name);
		if (length > 0 && (size_t)length < sizeof path && take(path, program, &checksum, debug))
			return true;
	}
	return false;
}

bool tw_debug_open(struct tw_symbols *symbols, const struct tw_elf *program, struct tw_elf *debug)
{
	if (open_by_id(program, debug))
		return true;
	char *path = realpath(symbols->path, NULL);
	char *slash = path ? strrchr(path, '/') : NULL;
	if (slash)
		*slash = '\0';
	bool found = slash && open_by_link(path, program, debug);
	free(path);
	return found;
}
