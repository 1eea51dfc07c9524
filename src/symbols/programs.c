/* programs.c - the functions of programs that lie where others do: each for its threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "symbols/places.h"
#include "symbols/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 255, PROGRAM_SHIFT = 56 }; /* each has names of its own; the upper byte of an id tells whose one is */

/* A program's functions, and those of all. */
struct own {
	struct tw_symbols *functions, *common;
	struct tw_namer namer;
	uint64_t number; /* from 1 */
};

/* Of a thread: the number of its program's functions, from 1; 0: it has none. */
struct member {
	uint64_t thread;
	uint32_t number;
};

struct programs {
	struct tw_programs shown; /* first */
	struct own **items;
	struct member *members; /* by thread */
	size_t count, room, member_count, member_room;
};

/* ---- Files. ---- */

/* A file of another machine is where the list is. NULL when there is no memory. */
static char *beside(const char *maps, const char *path)
{
	const char *slash = strrchr(maps, '/'), *name = strrchr(path, '/');
	char *text;
	int size = slash ? (int)(slash + 1 - maps) : 0;
	return asprintf(&text, "%.*s%s", size, maps, name ? name + 1 : path) < 0 ? NULL : text;
}

int tw_list_add_file(struct tw_symbols *symbols, const char *path, const char *file, const uint64_t *starts,
                     size_t count)
{
	char *other = access(file, R_OK) == 0 ? NULL : beside(path, file);
	bool is_there = other && access(other, R_OK) == 0;
	int status = tw_symbols_add_places(symbols, is_there ? other : file, starts, count);
	free(other);
	return status;
}

/* ---- Asking. ---- */

static int find_address(void *context, uint64_t address, struct tw_name *name, struct tw_range *range)
{
	const struct own *own = context;
	if (!tw_symbols_address(own->functions, address, name, range))
		return tw_symbols_address(own->common, address, name, range);
	name->id |= own->number << PROGRAM_SHIFT; /* functions of one name in two programs have two ids */
	return 1;
}

static const struct tw_namer *find_thread(void *context, uint64_t thread, uint32_t *program)
{
	const struct programs *programs = context;
	const size_t behind =
	    tw_count_up_to(programs->members, programs->member_count, TW_KEY(struct member, thread), thread);
	const struct member *member = behind ? &programs->members[behind - 1] : NULL;
	if (!member || member->thread != thread || !member->number)
		return NULL;
	*program = member->number;
	return &programs->items[member->number - 1]->namer;
}

static void close_all(struct tw_programs *shown)
{
	struct programs *programs = (struct programs *)shown;
	for (size_t i = 0; i < programs->count; i++) {
		tw_symbols_close(programs->items[i]->functions);
		free(programs->items[i]);
	}
	free((void *)programs->items);
	free(programs->members);
	free(programs);
}

/* ---- Which programs have the same. ---- */

/* The parted places of a program, from `first` on in an order by program. */
struct place_span {
	size_t first, count;
	uint32_t number; /* of the functions, from 1; 0: none */
};

static int by_program(const void *a, const void *b)
{
	const struct tw_place_of_file *x = a, *y = b;
	int order = tw_compare(x->program, y->program);
	order = order ? order : tw_compare(x->file, y->file);
	return order ? order : tw_compare(x->start, y->start);
}

static bool is_own(const struct tw_place_of_file *place)
{
	return place->is_parted && !place->is_shared && place->has_code;
}

/* Returns copies of them, in order. NULL without memory. */
static struct tw_place_of_file *parted_places(const struct tw_listed *list, struct place_span *spans)
{
	struct tw_place_of_file *places = calloc(list->place_count + 1, sizeof *places);
	size_t count = 0;
	for (size_t i = 0; places && i < list->place_count; i++)
		if (is_own(&list->places[i]))
			places[count++] = list->places[i];
	if (count)
		qsort(places, count, sizeof *places, by_program);
	for (size_t i = 0; i < count; i++) {
		struct place_span *span = &spans[places[i].program];
		span->first = span->count++ ? span->first : i;
	}
	return places;
}

static bool same_span(const struct tw_place_of_file *places, const struct place_span *a, const struct place_span *b)
{
	bool same = a->count == b->count;
	for (size_t i = 0; same && i < a->count; i++) {
		const struct tw_place_of_file *x = &places[a->first + i], *y = &places[b->first + i];
		same = x->file == y->file && x->start == y->start;
	}
	return same;
}

/* ---- Adding. ---- */

static struct programs *programs_of(const struct tw_symbols *symbols)
{
	return (struct programs *)symbols->programs;
}

static struct own *add_own(struct tw_symbols *symbols, struct programs *programs)
{
	struct own *own = calloc(1, sizeof *own);
	if (!own || tw_symbols_new(&own->functions) < 0 ||
	    !tw_grow(&programs->items, &programs->room, programs->count + 1, sizeof *programs->items)) {
		tw_symbols_close(own ? own->functions : NULL);
		free(own);
		return NULL;
	}
	own->common = symbols;
	own->namer = (struct tw_namer){.address = find_address, .context = own};
	own->functions->mangled = symbols->mangled;
	programs->items[programs->count++] = own;
	own->number = programs->count;
	return own;
}

/* Adds the files of a span. Returns 0 or TW_ERR_MEMORY. */
static int add_files(struct tw_symbols *symbols, const char *path, struct tw_listed *list,
                     const struct tw_place_of_file *places, const struct place_span *span)
{
	struct own *own = add_own(symbols, programs_of(symbols));
	uint64_t starts[TW_PLACES_MOST];
	int status = own ? 0 : TW_ERR_MEMORY;
	for (size_t i = 0, count = 0; status != TW_ERR_MEMORY && i < span->count; i++) {
		const struct tw_place_of_file *place = &places[span->first + i];
		starts[count++] = place->start;
		if (i + 1 < span->count && place[1].file == place->file)
			continue;
		struct tw_listed_file *file = &list->files[place->file];
		status = tw_list_add_file(own->functions, path, file->path, starts, count);
		file->nameless |= status < 0;
		if (status < 0)
			snprintf(symbols->error, sizeof symbols->error, "%s", tw_symbols_error(own->functions));
		count = 0;
	}
	return status == TW_ERR_MEMORY ? status : 0;
}

static int too_many(struct tw_symbols *symbols, struct tw_listed *list, const struct tw_place_of_file *place)
{
	list->files[place->file].nameless = true;
	snprintf(symbols->error, sizeof symbols->error, "%s: more than %d programs lie where others do",
	         list->files[place->file].path, MOST);
	return 0;
}

/* Finds the functions of a program that has some. */
static int number_span(struct tw_symbols *symbols, const char *path, struct tw_listed *list,
                       const struct tw_place_of_file *places, struct place_span *spans, size_t program)
{
	struct place_span *span = &spans[program];
	for (size_t i = 1; i < program && !span->number; i++)
		if (spans[i].number && same_span(places, span, &spans[i]))
			span->number = spans[i].number;
	if (span->number)
		return 0;
	if (programs_of(symbols)->count == MOST)
		return too_many(symbols, list, &places[span->first]);
	int status = add_files(symbols, path, list, places, span);
	span->number = status < 0 ? 0 : (uint32_t)programs_of(symbols)->count;
	return status;
}

/* What a program has: a child without lines of its own has its parent's. */
static uint32_t number_of(const struct tw_listed *list, const struct place_span *spans, size_t program)
{
	const struct tw_listed_program *programs = list->programs;
	while (!programs[program - 1].has_own && programs[program - 1].parent)
		program = programs[program - 1].parent;
	return spans[program].number;
}

static int by_thread(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	return tw_compare(x->thread, y->thread);
}

/* A thread that is told twice, of different programs, has none. */
static bool add_members(struct programs *programs, const struct tw_listed *list, const struct place_span *spans)
{
	size_t kept = 0;
	if (!tw_grow(&programs->members, &programs->member_room, programs->member_count + list->thread_count,
	             sizeof *programs->members))
		return false;
	for (size_t i = 0; i < list->thread_count; i++) {
		const struct tw_listed_thread *thread = &list->threads[i];
		programs->members[programs->member_count++] =
		    (struct member){thread->number, number_of(list, spans, thread->program)};
	}
	qsort(programs->members, programs->member_count, sizeof *programs->members, by_thread);
	for (size_t i = 0; i < programs->member_count; i++) {
		const struct member *member = &programs->members[i];
		if (!kept || programs->members[kept - 1].thread != member->thread)
			programs->members[kept++] = *member;
		else if (programs->members[kept - 1].number != member->number)
			programs->members[kept - 1].number = 0;
	}
	programs->member_count = kept;
	return true;
}

static bool begin(struct tw_symbols *symbols)
{
	struct programs *programs = symbols->programs ? programs_of(symbols) : calloc(1, sizeof *programs);
	if (!programs)
		return false;
	programs->shown = (struct tw_programs){{find_thread, programs}, close_all};
	symbols->programs = &programs->shown;
	return true;
}

int tw_list_add_programs(struct tw_symbols *symbols, const char *path, struct tw_listed *list)
{
	struct place_span *spans = calloc(list->program_count + 1, sizeof *spans);
	struct tw_place_of_file *places = spans ? parted_places(list, spans) : NULL;
	int status = places ? 0 : TW_ERR_MEMORY;
	bool any = false;
	for (size_t i = 1; status >= 0 && i <= list->program_count; i++) {
		if (!spans[i].count)
			continue;
		any = begin(symbols);
		status = any ? number_span(symbols, path, list, places, spans, i) : TW_ERR_MEMORY;
	}
	if (status >= 0 && any && !add_members(programs_of(symbols), list, spans))
		status = TW_ERR_MEMORY;
	free(places);
	free(spans);
	return status;
}

int tw_symbols_add(struct tw_symbols *symbols, const char *path, const uint64_t *load_address)
{
	return tw_symbols_add_places(symbols, path, load_address, 1);
}
