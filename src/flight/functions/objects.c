/* objects.c - the numbers of functions, and notes of the objects that they are of. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/functions/objects.h"

#include "flight/functions/choose.h"
#include "flight/functions/elf.h"
#include "flight/log/log.h"
#include "flight/log/path.h"
#include "flight/system.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

enum { RANGES = 1024, IDS = 1 << 28, PATH = 4096, PATHS = 1 << 17 };

struct id_range {
	enum flight_id_kind kind, was; /* FLIGHT_GONE, and what it was before */
	uint32_t first, count;
	uint64_t start, load, build; /* build: a hash of the build id */
	const char *path;
	bool doubted;
	const uint8_t *chosen; /* by address: a bit for each byte, where not all functions are recorded */
};

/* A range is complete before the count tells of it. */
static struct id_range ranges[RANGES];
static uint32_t range_count, next_id = 1, busy;
static char paths[PATHS]; /* of objects that may be unloaded */
static size_t paths_used;

/* ---- Notes: "first count kind start load build-id path", numbers hexadecimal. ---- */

static char *put_hex(char *at, uint64_t value)
{
	unsigned shift = 60;
	while (shift && !(value >> shift & 15))
		shift -= 4;
	for (;; shift -= 4) {
		*at++ = "0123456789abcdef"[value >> shift & 15];
		if (shift == 0)
			break;
	}
	*at++ = ' ';
	return at;
}

static char *put_none(char *at)
{
	*at++ = '-';
	*at++ = ' ';
	return at;
}

/* The build id of an object that is loaded, as its notes have it; "-" where it has none. */
static char *put_build_id(char *at, uint64_t load)
{
	if (load == 0) /* a program that is linked to its place: its headers are not at the load address */
		return put_none(at);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)load;
	const Elf64_Phdr *program = (const Elf64_Phdr *)(load + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (program[i].p_type != PT_NOTE)
			continue;
		const uint64_t begin = load + program[i].p_vaddr, end = begin + program[i].p_memsz;
		for (uint64_t place = begin; place + sizeof(Elf64_Nhdr) <= end;) {
			const Elf64_Nhdr *note = (const Elf64_Nhdr *)place;
			const uint8_t *bytes = (const uint8_t *)(note + 1) + ((note->n_namesz + 3) & ~3u);
			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && note->n_descsz <= 32) {
				for (unsigned k = 0; k < note->n_descsz; k++) {
					*at++ = "0123456789abcdef"[bytes[k] >> 4];
					*at++ = "0123456789abcdef"[bytes[k] & 15];
				}
				*at++ = ' ';
				return at;
			}
			place = (uint64_t)(bytes + ((note->n_descsz + 3) & ~3u));
		}
	}
	return put_none(at);
}

/* FNV-1a, of the text. */
static uint64_t build_of(uint64_t load)
{
	char text[80];
	const char *end = put_build_id(text, load);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (const char *at = text; at < end; at++)
		hash = (hash ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
	return hash;
}

/* A path that dlopen() was given may be relative, and holds elsewhere no more. At most PATH bytes: stacks may be
 * small. */
static char *put_path(char *at, const char *path)
{
	size_t length = 0;
	while (path[length] && length < PATH)
		length++;
	if (*path != '/') {
		const long size = flight_call(SYS_getcwd, (long)at, PATH, 0, 0); /* with the zero */
		if (size > 1 && (size_t)size + length <= PATH) {
			at += size;
			at[-1] = '/';
		}
	}
	flight_copy(at, path, length);
	return at + length;
}

static bool note(const struct id_range *range)
{
	static const char name[16] = "trackway.object";
	char text[PATH + 160], *at = text;
	at = put_hex(at, range->first);
	at = put_hex(at, range->count);
	at = put_hex(at, range->kind);
	at = put_hex(at, range->start);
	at = put_hex(at, range->load);
	at = put_build_id(at, range->load);
	at = put_path(at, range->path);
	return flight_note(name, sizeof name, text, (size_t)(at - text));
}

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static const char *keep_path(const char *path)
{
	size_t size = 1;
	while (path[size - 1] && size < PATH)
		size++;
	if (size > sizeof paths - paths_used)
		return "";
	char *kept = paths + paths_used;
	flight_copy(kept, path, size);
	paths_used += size;
	return kept;
}

/* The range that an object had before it was unloaded; NULL: it had none. An object that was built anew has none. */
static struct id_range *find_gone(const struct id_range *wanted, enum flight_id_kind kind, const char *path)
{
	for (uint32_t i = 0; i < range_count; i++) {
		struct id_range *range = &ranges[i];
		if (range->kind == FLIGHT_GONE && range->was == kind && range->count == wanted->count &&
		    range->build == wanted->build && range->start - range->load == wanted->start - wanted->load &&
		    is_same(range->path, path))
			return range;
	}
	return NULL;
}

/* The kind comes last: hooks of other threads look for addresses meanwhile. */
static uint32_t come_back(struct id_range *range, const struct id_range *wanted)
{
	range->start = wanted->start;
	range->load = wanted->load;
	__atomic_store_n(&range->kind, range->was, __ATOMIC_RELEASE);
	return range->first;
}

/* Calls that do not end are not recorded. A file that cannot be read, or has names of sections alone, does not say. */
static bool has_exits(const char *path)
{
	struct flight_elf elf = flight_elf_open(path);
	const bool has = !flight_elf_section(&elf, ".strtab") || flight_elf_has_exits(&elf);
	flight_elf_close(&elf);
	return has;
}

/* A bit for each byte, none of them set. */
static const uint8_t *none(uint32_t count)
{
	return flight_map(count / 8 + 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

uint32_t flight_range(enum flight_id_kind kind, uint32_t count, uint64_t start, uint64_t load, const char *path)
{
	const struct id_range wanted = {.kind = kind,
	                                .was = kind,
	                                .first = next_id,
	                                .count = count,
	                                .start = start,
	                                .load = load,
	                                .build = build_of(load)};
	struct id_range *range = find_gone(&wanted, kind, path);
	if (range)
		return come_back(range, &wanted);
	range = &ranges[range_count];
	if (range_count == RANGES || count == 0 || count >= IDS - next_id)
		return 0;
	*range = wanted;
	range->path = keep_path(path);
	if (kind == FLIGHT_BY_ADDRESS)
		range->chosen = has_exits(path) ? flight_chosen(path, load, start, count) : none(count);
	if (!note(range))
		return 0;
	next_id += count;
	__atomic_store_n(&range_count, range_count + 1, __ATOMIC_RELEASE);
	return range->first;
}

bool flight_has_range(enum flight_id_kind kind, uint64_t load, const char *path)
{
	for (uint32_t i = 0; i < range_count; i++)
		if (ranges[i].kind == kind && ranges[i].load == load && is_same(ranges[i].path, path))
			return true;
	return false;
}

bool flight_lock_ranges(void)
{
	return flight_lock(&busy);
}

void flight_unlock_ranges(void)
{
	flight_unlock(&busy);
}

void flight_doubt_ranges(void)
{
	for (uint32_t i = 0; i < range_count; i++)
		ranges[i].doubted = true;
}

/* The program itself has no name, and is never unloaded. */
void flight_keep_ranges(uint64_t load, const char *path)
{
	for (uint32_t i = 0; i < range_count; i++)
		if (ranges[i].load == load && (!*path || is_same(ranges[i].path, path)))
			ranges[i].doubted = false;
}

void flight_drop_ranges(void)
{
	for (uint32_t i = 0; i < range_count; i++)
		if (ranges[i].doubted)
			__atomic_store_n(&ranges[i].kind, FLIGHT_GONE, __ATOMIC_RELAXED);
}

void flight_note_ranges(void)
{
	busy = 0;
	for (uint32_t i = 0; i < range_count; i++)
		note(&ranges[i]);
}

/* ---- Functions by address. ---- */

static inline uint32_t id_in(const struct id_range *range, uint64_t address)
{
	const uint64_t distance = address - range->start;
	if (range->kind != FLIGHT_BY_ADDRESS || distance >= range->count)
		return 0;
	return flight_is_chosen(range->chosen, distance) ? range->first + (uint32_t)distance : FLIGHT_NOT_CHOSEN;
}

static inline uint32_t find(uint64_t address)
{
	/* A hint, of this thread alone: others may call another object. */
	static _Thread_local uint32_t last;
	const uint32_t count = __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);
	uint32_t id = last < count ? id_in(&ranges[last], address) : 0;
	for (uint32_t i = 0; id == 0 && i < count; i++) {
		id = id_in(&ranges[i], address);
		if (id)
			last = i;
	}
	return id;
}

/* An object that nobody has asked for yet. _dl_find_object() takes no lock, and can be called in a signal handler. */
static uint32_t add(uint64_t address)
{
	struct dl_find_object found;
	char self[FLIGHT_PATH];
	if (_dl_find_object((void *)address, &found) != 0)
		return 0;
	const char *name = found.dlfo_link_map->l_name, *path = *name ? name : flight_program_path(self);
	const uint64_t start = (uint64_t)found.dlfo_map_start, size = (uint64_t)found.dlfo_map_end - start;
	const uint32_t first =
	    size < IDS ? flight_range(FLIGHT_BY_ADDRESS, (uint32_t)size, start, found.dlfo_link_map->l_addr, path) : 0;
	return first ? find(address) : 0; /* one that has come back is not the last range */
}

uint32_t flight_id_of(const void *function)
{
	enum { TRIES = 1000 };
	const uint64_t address = (uint64_t)function;
	uint32_t id = find(address);
	for (unsigned i = 0; id == 0 && i < TRIES; i++) {
		if (!__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE)) {
			id = find(address);
			id = id ? id : add(address);
			flight_unlock(&busy);
			break;
		}
		flight_call(SYS_sched_yield, 0, 0, 0, 0);
		id = find(address);
	}
	return id;
}

void flight_add_object(const void *function)
{
	if (!find((uint64_t)function))
		add((uint64_t)function);
}

/* Whether an object calls hooks: then their name is among those that the loader knows. A static program may. */
static bool has_hooks(const struct dl_phdr_info *object)
{
	static const char hook[] = "__cyg_profile_func_enter", other[] = "__fentry__";
	const char *names = NULL;
	uint64_t size = 0;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		if (object->dlpi_phdr[i].p_type != PT_DYNAMIC)
			continue;
		const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
		for (; entry->d_tag != DT_NULL; entry++) {
			names = entry->d_tag == DT_STRTAB ? (const char *)entry->d_un.d_ptr : names;
			size = entry->d_tag == DT_STRSZ ? entry->d_un.d_val : size;
		}
	}
	const bool is_mapped = (uint64_t)names > object->dlpi_addr; /* that of the vdso is not relocated */
	return !names ||
	       (is_mapped && (memmem(names, size, hook, sizeof hook) || memmem(names, size, other, sizeof other)));
}

static int look_ahead(struct dl_phdr_info *object, size_t size, void *context)
{
	(void)size;
	(void)context;
	for (unsigned i = 0; i < object->dlpi_phnum && has_hooks(object); i++)
		if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X)
			flight_id_of((const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr));
	return 0;
}

void flight_look_ahead(void)
{
	dl_iterate_phdr(look_ahead, NULL);
}
