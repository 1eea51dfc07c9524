/* sleds.c - finds xray_instr_map in the objects that are loaded, and patches what it lists. LLVM's runtime is hidden in
 * the program where there is one, and is not needed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/sites/sleds.h"

#include "flight/functions/choose.h"
#include "flight/functions/elf.h"
#include "flight/functions/objects.h"
#include "flight/log/log.h"
#include "flight/log/path.h"
#include "flight/sites/fentry.h"
#include "flight/sites/sled.h"

#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

/* An entry of the map. From version 2 on, addresses are relative to where they stand. */
struct sled_entry {
	int64_t sled, function;
	uint8_t kind, always, version, padding[13];
};
_Static_assert(sizeof(struct sled_entry) == 32, "XRaySledEntry");

/* ---- The map of an object. ---- */

struct map {
	const struct sled_entry *entries;
	size_t count;
};

static uint64_t sled_of(const struct sled_entry *entry)
{
	return entry->version >= 2 ? (uint64_t)&entry->sled + (uint64_t)entry->sled : (uint64_t)entry->sled;
}

static uint64_t function_of(const struct sled_entry *entry)
{
	return entry->version >= 2 ? (uint64_t)&entry->function + (uint64_t)entry->function : (uint64_t)entry->function;
}

/* The section is in the object's file, whose headers stripping leaves. */
static struct map find_map(const struct flight_elf *elf, uint64_t load)
{
	const Elf64_Shdr *section = flight_elf_section(elf, "xray_instr_map");
	if (!section)
		return (struct map){0};
	return (struct map){(const struct sled_entry *)(load + section->sh_addr),
	                    section->sh_size / sizeof(struct sled_entry)};
}

static uint32_t count_functions(const struct map *map)
{
	uint64_t last = 0;
	uint32_t count = 0;
	for (size_t i = 0; i < map->count; i++) {
		count += function_of(&map->entries[i]) != last;
		last = function_of(&map->entries[i]);
	}
	return count;
}

/* The code from the first sled or function to the end of the last sled. */
static struct sled_code {
	uint64_t first, end;
} extent_of(const struct map *map)
{
	struct sled_code extent = {UINT64_MAX, 0};
	for (size_t i = 0; i < map->count; i++) {
		const uint64_t sled = sled_of(&map->entries[i]), function = function_of(&map->entries[i]),
			       end = sled + flight_sled_size(map->entries[i].kind);
		extent.first = sled < extent.first ? sled : extent.first;
		extent.first = function < extent.first ? function : extent.first;
		extent.end = end > extent.end ? end : extent.end;
	}
	return extent;
}

static bool protect(const struct map *map, int protection)
{
	const struct sled_code extent = extent_of(map);
	const uint64_t first = flight_page_of(extent.first);
	return mprotect((void *)first, extent.end - first, protection) == 0;
}

/* chosen: from the first byte of the map's extent. */
static void patch_map(const struct map *map, uint32_t first, const uint8_t *jumps, const uint8_t *chosen,
                      struct flight_sleds *sleds)
{
	const uint64_t start = extent_of(map).first;
	uint64_t last = 0;
	uint32_t id = first - 1;
	for (size_t i = 0; i < map->count; i++) {
		const struct sled_entry *entry = &map->entries[i];
		uint8_t *sled = (uint8_t *)sled_of(entry);
		id += function_of(entry) != last;
		last = function_of(entry);
		if (!flight_is_chosen(chosen, last - start))
			continue;
		const bool patched = sled && flight_patch_sled(sled, id, entry->kind, jumps);
		sleds->patched += patched;
		sleds->foreign += !patched;
	}
}

static void patch_sleds(const struct map *map, const char *path, uint64_t load, struct flight_sleds *sleds)
{
	const uint64_t start = sled_of(map->entries);
	const uint32_t first = flight_range(FLIGHT_BY_SLED, count_functions(map), start, load, path);
	uint8_t *jumps = first ? flight_make_jumps(start) : NULL;
	if (!jumps || !protect(map, PROT_READ | PROT_WRITE | PROT_EXEC)) {
		sleds->foreign += map->count;
		return;
	}
	const struct sled_code extent = extent_of(map);
	patch_map(map, first, jumps, flight_chosen(path, load, extent.first, extent.end - extent.first), sleds);
	protect(map, PROT_READ | PROT_EXEC);
}

static int patch_object(struct dl_phdr_info *object, size_t size, void *context)
{
	struct flight_sleds *sleds = context;
	char self[FLIGHT_PATH];
	const char *path = *object->dlpi_name ? object->dlpi_name : flight_program_path(self);
	(void)size;
	if (flight_has_range(FLIGHT_BY_SLED, object->dlpi_addr, path))
		return 0;
	struct flight_elf elf = flight_elf_open(path);
	const struct map map = find_map(&elf, object->dlpi_addr);
	sleds->patched += flight_patch_places(object, &elf);
	flight_elf_close(&elf);
	if (map.count)
		patch_sleds(&map, path, object->dlpi_addr, sleds);
	return 0;
}

/* What the stubs call. */
void tw_flight_sled(uint32_t id, uint32_t kind, uint64_t argument, uint64_t place);
__attribute__((visibility("hidden"))) void tw_flight_sled(uint32_t id, uint32_t kind, uint64_t argument, uint64_t place)
{
	if (flight_is_off())
		return;
	if (kind == FLIGHT_SLED_ENTER_ARGUMENT)
		flight_function_argument(id << 4 | kind << 1, (struct flight_frame){.place = place}, argument);
	else
		flight_function(id << 4 | kind << 1, (struct flight_frame){.place = place});
}

static int keep_object(struct dl_phdr_info *object, size_t size, void *context)
{
	(void)size;
	(void)context;
	flight_keep_ranges(object->dlpi_addr, object->dlpi_name);
	return 0;
}

struct flight_sleds flight_patch_all(void)
{
	struct flight_sleds sleds = {0};
	if (flight_lock_ranges()) {
		flight_doubt_ranges();
		dl_iterate_phdr(keep_object, NULL);
		flight_drop_ranges();
		dl_iterate_phdr(patch_object, &sleds);
		flight_unlock_ranges();
	}
	return sleds;
}
