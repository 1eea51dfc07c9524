/* sites.c - places: opcodes at addresses, each known by a number. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/walk.h"

#include <stdlib.h>

bool study_sites_init(struct study_sites *sites, struct tw_budget *budget, struct tw_dictionary *names)
{
	sites->budget = budget;
	sites->names = names;
	sites->count = 1;
	sites->items = calloc(1, sizeof *sites->items);
	sites->room = sites->items ? 1 : 0;
	if (sites->items)
		sites->items[0].pc = UINT64_MAX;
	return sites->items != NULL;
}

void study_sites_free(struct study_sites *sites)
{
	free(sites->items);
	tw_map_free(&sites->map);
}

static uint64_t key_of(const struct study_site *place)
{
	return tw_hash_two(place->pc, (uint64_t)place->program << 32 | place->opcode);
}

static uint32_t add_site(struct study_sites *sites, const struct study_site *place)
{
	uint32_t number = (uint32_t)sites->count;
	if (number == UINT32_MAX - 1 ||
	    !tw_budget_grow(sites->budget, TW_FOR_ROWS, &sites->items, &sites->room, sites->count + 1,
	                    sizeof *sites->items) ||
	    !tw_budget_map_add(sites->budget, TW_FOR_ROWS, &sites->map, key_of(place), number))
		return 0;
	sites->items[sites->count++] = (struct study_site){
	    .pc = place->pc,
	    .opcode = place->opcode,
	    .function = place->function,
	    .program = place->program,
	    .flow = xtrace_find_operation(&sites->operations, place->opcode)->flow,
	    .class = (uint8_t)study_class_of(place->opcode),
	};
	return number;
}

uint32_t study_sites_known(const struct study_sites *sites, const struct study_site *place)
{
	size_t slot = SIZE_MAX;
	uint32_t number;
	while (tw_map_next(&sites->map, key_of(place), &slot, &number)) {
		const struct study_site *site = &sites->items[number];
		if (site->pc == place->pc && site->opcode == place->opcode && site->program == place->program)
			return number;
	}
	return 0;
}

uint32_t study_sites_find(struct study_sites *sites, const struct study_site *place)
{
	uint32_t number = study_sites_known(sites, place);
	return number ? number : add_site(sites, place);
}

uint32_t study_name_in(struct study_sites *to, const struct study_sites *from, uint32_t name)
{
	return tw_dictionary_intern(to->names, tw_dictionary_name(from->names, name));
}

/* ---- Trails. ---- */

size_t study_sites_mark(const struct study_sites *sites, uint32_t program, struct xtrace_draft *draft)
{
	const struct study_site first = {.pc = draft->pc, .opcode = draft->steps[0], .program = program};
	uint32_t site = study_sites_known(sites, &first);
	size_t count = 0, access = 0;
	while (site && count < draft->step_count && sites->items[site].opcode == draft->steps[count]) {
		for (; access < draft->access_count && draft->accesses[access].step == count; access++)
			draft->accesses[access].mark = site;
		draft->steps[count++] = site;
		site = sites->items[site].next;
	}
	return count;
}

/* Places are counted by the trails that they are of. */
static void count_trail(struct study_sites *sites, const struct xtrace_trail *trail)
{
	const uint32_t *steps = xtrace_trail_steps(trail);
	for (size_t i = 0; i < trail->step_count; i++)
		sites->items[steps[i]].count += trail->count;
}

/* Links the places of a trail, each with the one behind it. Where several came behind one, as in damaged traces and
 * where code is written anew, it is the one that came most often. */
static void link_trail(struct study_sites *sites, const struct xtrace_trail *trail)
{
	const uint32_t *steps = xtrace_trail_steps(trail);
	for (size_t i = 1; i < trail->step_count; i++) {
		struct study_site *before = &sites->items[steps[i - 1]];
		if (sites->items[steps[i]].count > sites->items[before->next].count)
			before->next = steps[i];
	}
}

void study_sites_add_up(struct study_sites *sites, const struct xtrace_trails *trails)
{
	for (size_t i = 0; i < trails->count; i++)
		count_trail(sites, trails->items[i]);
	for (size_t i = 0; i < trails->count; i++)
		link_trail(sites, trails->items[i]);
}
