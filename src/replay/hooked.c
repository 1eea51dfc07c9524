/* hooked.c - places in a program that are looked at before they are executed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/hooked.h"

static size_t mark_of(uint64_t pc)
{
	return (size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - REPLAY_HOOKED_BITS));
}

static bool is_marked(const struct replay_hooked *hooked, uint64_t pc)
{
	return hooked->marked[mark_of(pc) / 8] >> mark_of(pc) % 8 & 1;
}

static bool is_among(const struct replay_hooked *hooked, uint64_t pc)
{
	size_t i = 0;
	while (i < hooked->count && hooked->places[i] != pc)
		i++;
	return i < hooked->count;
}

void replay_hooked_add(struct replay_hooked *hooked, uint64_t pc)
{
	if (is_marked(hooked, pc) && (hooked->crowded || is_among(hooked, pc)))
		return;
	hooked->marked[mark_of(pc) / 8] |= (uint8_t)(1u << mark_of(pc) % 8);
	hooked->crowded |= hooked->count == REPLAY_HOOKS_MOST;
	if (!hooked->crowded)
		hooked->places[hooked->count++] = pc;
}

static void on_any(uc_engine *engine, uint64_t address, uint32_t size, void *context)
{
	const struct replay_hooked *hooked = context;
	if (is_marked(hooked, address))
		hooked->call(engine, address, size, hooked->run);
}

static void add_hook(struct replay_hooked *hooked, uc_cb_hookcode_t call, void *context, uint64_t from, uint64_t to)
{
	uc_hook hook;
	replay_emulator.uc_hook_add(hooked->run->engine, &hook, UC_HOOK_CODE, (void *)(uintptr_t)call, context, from,
	                            to);
}

void replay_hooked_set(struct replay_hooked *hooked)
{
	if (hooked->crowded)
		add_hook(hooked, on_any, hooked, 1, 0); /* all instructions */
	for (size_t i = 0; !hooked->crowded && i < hooked->count; i++)
		add_hook(hooked, hooked->call, hooked->run, hooked->places[i], hooked->places[i]);
}
