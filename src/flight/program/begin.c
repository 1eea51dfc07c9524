/* begin.c - recording begins as the program does, where the environment asks for it; otherwise it may later. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/functions/types.h"
#include "flight/log/log.h"
#include "flight/program/attach.h"
#include "flight/program/start.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/*     TRACKWAY_FLIGHT=out-%p.xray
 *     TRACKWAY_FLIGHT_OPTIONS=max-size=1G,ring=8M,clock=monotonic,min-duration=1000,max-depth=5,count=1,signals=1
 *         and delayed=1, snapshot-age=2000000000, control=off: nobody can begin a recording later
 *     TRACKWAY_FLIGHT_SNAPSHOT=snapshot-%p.xray
 *     TRACKWAY_FLIGHT_FUNCTIONS=-GLOB, a line each, or + for what alone is recorded */

/* ---- A program that is linked with the recorder, and is given it, too: the one inside is called. ---- */

static const char here;

struct examined {
	bool has_recorder, is_ours; /* the program has the note of a linked recorder; that recorder is this one */
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
	struct examined *program = context;
	(void)size;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		const uint64_t start = object->dlpi_addr + part->p_vaddr;
		if (part->p_type == PT_LOAD)
			program->is_ours |= (uint64_t)&here - start < part->p_memsz;
		if (part->p_type == PT_NOTE)
			program->has_recorder |= has_mark((const uint8_t *)start, part->p_memsz);
	}
	return 1;
}

static bool another_is_linked(void)
{
	struct examined program = {0};
	dl_iterate_phdr(look_at_program, &program);
	return program.has_recorder && !program.is_ours;
}

/* ---- */

static const char *variable(const char *name)
{
	const char *value = secure_getenv(name);
	return value ? value : "";
}

static bool is_left_to_another(void)
{
	return getauxval(AT_SECURE) || another_is_linked();
}

/* Before the program's own constructors. */
__attribute__((constructor(101))) static void take_types(void)
{
	const bool may_record =
	    *variable("TRACKWAY_FLIGHT") || !strstr(variable("TRACKWAY_FLIGHT_OPTIONS"), "control=off");
	if (may_record && !is_left_to_another())
		flight_take_types();
}

/* The program runs on, and is not recorded. */
static void say_failed(const char *path, const char *list, int error)
{
	const char *wrong = flight_wrong_option(list);
	if (strstr(list, "quiet=1"))
		return;
	if (wrong)
		dprintf(STDERR_FILENO, "trackway: TRACKWAY_FLIGHT_OPTIONS: %.*s: no option, nothing is recorded\n",
		        (int)strcspn(wrong, ","), wrong);
	else
		dprintf(STDERR_FILENO, "trackway: TRACKWAY_FLIGHT=%s: no log could be made: %s\n", path,
		        strerror(error));
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = variable("TRACKWAY_FLIGHT"), *list = variable("TRACKWAY_FLIGHT_OPTIONS");
	if (is_left_to_another())
		return;
	if (*path) {
		const int error = flight_start(path, list, variable("TRACKWAY_FLIGHT_SNAPSHOT"),
		                               variable("TRACKWAY_FLIGHT_FUNCTIONS"));
		if (error)
			say_failed(path, list, error);
	} else if (!strstr(list, "control=off")) {
		flight_wait_for_requests();
	}
}

/* What runs later is recorded, too. */
__attribute__((destructor)) static void end(void)
{
	flight_log_end();
}
