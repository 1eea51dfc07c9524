/* events.c - the runtime's own events, which later ones give to profilers as they happen (ICorProfilerInfo12). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <string.h>

/* Source of names and numbers: ClrEtwAll.man (dotnet/runtime, src/coreclr/vm). */
static const uint16_t provider_name[] = u"Microsoft-Windows-DotNETRuntime";
enum { COLLECTIONS = 1 /* keyword GC */, INFORMATIONAL = 4, VERBOSE = 5 };
enum { GC_START = 1, ALLOCATION_TICK = 10 };

static struct com *info; /* ICorProfilerInfo12 */

bool profiler_begin_events(bool ticks)
{
	const struct com_provider provider = {.name = provider_name,
	                                      .keywords = COLLECTIONS,
	                                      .level = ticks ? VERBOSE : INFORMATIONAL};
	static const struct com_guid info12 = {0x27b24ccd,
	                                       0x1cb1,
	                                       0x47c5,
	                                       {0x96, 0xee, 0x98, 0x19, 0x0d, 0xc3, 0x09, 0x59}};
	uint64_t session = 0;
	return COM_CALL(profiler.info, query, &info12, &info) >= 0 && info &&
	       COM_CALL(info, start_session, 1, &provider, 0, &session) >= 0;
}

/* Whether an event's provider is the runtime: a program's own providers write events, too. The runtime's provider has a
 * name that no other has, and its number does not change. */
static bool is_of_runtime(uint64_t provider)
{
	enum { ROOM = 64 };
	static _Atomic uint64_t known;
	uint16_t name[ROOM] = {0};
	uint32_t length = 0;
	if (known)
		return provider == known;
	if (COM_CALL(info, provider_info, provider, ROOM, &length, name) < 0 ||
	    memcmp(name, provider_name, sizeof provider_name) != 0)
		return false;
	known = provider;
	return true;
}

/* AllocationTick_V4 (.NET 6): amounts, kind, class, its name, heap, address, size; V3 has no size. */
static void take_allocation(const uint8_t *event, uint32_t size)
{
	enum { AMOUNT = 10, CLASS = 18, NAME = 26, AFTER_NAME = 4 + 8 };
	uint64_t amount, class_id, object = 0;
	if (size < NAME)
		return;
	memcpy(&amount, event + AMOUNT, sizeof amount);
	memcpy(&class_id, event + CLASS, sizeof class_id);
	uint32_t at = NAME;
	while (size - at >= 2 && (event[at] || event[at + 1]))
		at += 2;
	if (size - at >= 2 + AFTER_NAME + sizeof object)
		memcpy(&object, event + at + 2 + AFTER_NAME, sizeof object);
	if (class_id)
		profiler_ticked(class_id, object, amount);
}

/* GCStart_V2: count, depth, reason, type. The event alone tells that the program asked for a collection which need
 * not be at once: the callbacks do not. Source: gc_reason of the runtime's gc.h. */
static void take_start(const uint8_t *event, uint32_t size)
{
	enum { REASON = 8, TYPE = 12 };
	enum { INDUCED = 1, INDUCED_NO_FORCE = 7, INDUCED_COMPACTING = 10, BACKGROUND = 1 };
	uint32_t reason, type;
	if (size < TYPE + sizeof type)
		return;
	memcpy(&reason, event + REASON, sizeof reason);
	memcpy(&type, event + TYPE, sizeof type);
	profiler_collection_begins(type == BACKGROUND,
	                           reason == INDUCED || reason == INDUCED_NO_FORCE || reason == INDUCED_COMPACTING);
}

void profiler_take_event(uint64_t provider, uint32_t id, const uint8_t *event, uint32_t size)
{
	if (id == GC_START && is_of_runtime(provider))
		take_start(event, size);
	else if (id == ALLOCATION_TICK && profiler.ticks_come && is_of_runtime(provider))
		take_allocation(event, size);
}
