/* start.c - recording begins as the program does, where the environment asks for it, and again in each forked child. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/choose.h"
#include "flight/log.h"
#include "flight/objects.h"
#include "flight/signals.h"
#include "flight/sleds.h"
#include "flight/snapshot.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*     TRACKWAY_FLIGHT=out-%p.xray
 *     TRACKWAY_FLIGHT_OPTIONS=max-size=1G,ring=8M,clock=monotonic,min-duration=1000,max-depth=5,count=1,signals=1
 *         and delayed=1, snapshot-age=2000000000
 *     TRACKWAY_FLIGHT_SNAPSHOT=snapshot-%p.xray
 *     TRACKWAY_FLIGHT_FUNCTIONS=-GLOB, a line each, or + for what alone is recorded */
static struct flight_options options;
static bool signals;

static uint64_t size_of(const char *text)
{
	char *end;
	uint64_t size = strtoull(text, &end, 10);
	static const char units[] = "KMGT";
	const char *unit = *end ? strchr(units, *end) : NULL;
	return unit ? size << (10 * (unit - units + 1)) : size;
}

/* The value of an option in a list, as far as the next comma; NULL: it is not there. */
static const char *value_of(const char *list, const char *name)
{
	const size_t length = strlen(name);
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strncmp(at, name, length) == 0 && at[length] == '=')
			return at + length + 1;
	return NULL;
}

static bool is_one(const char *list, const char *name)
{
	const char *value = value_of(list, name);
	return value && *value == '1';
}

static void take_options(const char *list)
{
	const char *max_size = value_of(list, "max-size"), *ring = value_of(list, "ring"),
		   *clock = value_of(list, "clock"), *shortest = value_of(list, "min-duration"),
		   *deepest = value_of(list, "max-depth");
	const uint64_t space = UINT64_C(1) << 36;
	options.max_size = max_size ? size_of(max_size) : space;
	options.ring = ring ? size_of(ring) : 0;
	options.shortest = shortest ? strtoull(shortest, NULL, 10) : 0;
	options.deepest = deepest ? (uint32_t)strtoul(deepest, NULL, 10) : 0;
	options.count = is_one(list, "count");
	options.delayed = is_one(list, "delayed");
	signals = is_one(list, "signals");
	options.clock = clock && strncmp(clock, "monotonic", 9) == 0 ? FLIGHT_MONOTONIC
	                : clock && strncmp(clock, "tsc", 3) == 0     ? FLIGHT_TICKS
	                                                             : FLIGHT_SOUND;
}

/* ---- A program that is linked with the recorder, and is given it, too: the one inside is called. ---- */

struct program {
	bool has_recorder, is_ours; /* it has the note that a linked one leaves; that is this one */
};

/* Source: doc/formats/xray-fdr.md, "Logs of the flight recorder". */
static bool has_mark(const uint8_t *notes, size_t size)
{
	static const char name[] = "Trackway";
	Elf64_Nhdr note;
	for (size_t at = 0; at + sizeof note + sizeof name <= size;) {
		memcpy(&note, notes + at, sizeof note);
		if (note.n_namesz == sizeof name && memcmp(notes + at + sizeof note, name, sizeof name) == 0)
			return true;
		at += sizeof note + ((note.n_namesz + (size_t)3) & ~(size_t)3) +
		      ((note.n_descsz + (size_t)3) & ~(size_t)3);
	}
	return false;
}

/* The program is the first object. */
static int look_at_program(struct dl_phdr_info *object, size_t size, void *context)
{
	struct program *program = context;
	(void)size;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		const uint64_t start = object->dlpi_addr + part->p_vaddr;
		if (part->p_type == PT_LOAD)
			program->is_ours |= (uint64_t)&options - start < part->p_memsz;
		if (part->p_type == PT_NOTE)
			program->has_recorder |= has_mark((const uint8_t *)start, part->p_memsz);
	}
	return 1;
}

static bool another_is_linked(void)
{
	struct program program = {0};
	dl_iterate_phdr(look_at_program, &program);
	return program.has_recorder && !program.is_ours;
}

/* ---- */

static void begin_in_child(void)
{
	if (flight_log_open(&options) == 0)
		flight_note_ranges();
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = secure_getenv("TRACKWAY_FLIGHT"), *list = secure_getenv("TRACKWAY_FLIGHT_OPTIONS");
	if (!path || !*path || strlen(path) >= sizeof options.path || another_is_linked())
		return;
	strcpy(options.path, path);
	take_options(list ? list : "");
	const char *functions = secure_getenv("TRACKWAY_FLIGHT_FUNCTIONS");
	flight_take_patterns(functions);
	if (flight_log_open(&options) != 0)
		return;
	const char *age = list ? value_of(list, "snapshot-age") : NULL;
	flight_name_snapshots(secure_getenv("TRACKWAY_FLIGHT_SNAPSHOT"), path, age ? strtoull(age, NULL, 10) : 0);
	if (signals)
		flight_take_signals();
	flight_patch_all();
	flight_watch_objects();
	if (functions && *functions)
		flight_look_ahead();
	pthread_atfork(NULL, NULL, begin_in_child);
}

/* What runs later is recorded, too. */
__attribute__((destructor)) static void end(void)
{
	flight_log_end();
}
