/* fentry.c - gcc's -pg -mfentry -minstrument-return: functions that call where they begin and end, and those that have
 * room for a call there, and lists of these places. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/sites/fentry.h"

#include "flight/functions/objects.h"
#include "flight/log/log.h"
#include "flight/sites/sled.h"

#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__)

enum { CALL = 0xe8, CALL_SIZE = 5, SHORTENED = 0x67, MARK_SIZE = 4, ALIGNED = 16, LINE = 64 };

/* ---- Calls. ---- */

/* The function that begins with a call: "call __fentry__", or "call *__fentry__@GOTPCREL(%rip)", which a linker makes
 * "addr32 call" of. "endbr64" may be before it. */
static const uint8_t *function_of(const uint8_t *behind)
{
	static const uint8_t mark[MARK_SIZE] = {0xf3, 0x0f, 0x1e, 0xfa};
	const uint8_t *call = behind - CALL_SIZE;
	if (call[0] != CALL || (call[-1] == SHORTENED && (uint64_t)call % ALIGNED != 0))
		call--;
	for (unsigned i = 0; i < MARK_SIZE; i++)
		if (call[(int)i - MARK_SIZE] != mark[i])
			return call;
	return call - MARK_SIZE;
}

/* What the stubs call. */
void tw_flight_fentry(const uint8_t *behind, uint64_t place);
void tw_flight_return(const uint8_t *behind, uint64_t place);

__attribute__((visibility("hidden"))) void tw_flight_fentry(const uint8_t *behind, uint64_t place)
{
	const uint32_t id = flight_is_off() ? FLIGHT_NOT_CHOSEN : flight_id_of(function_of(behind));
	if (id == FLIGHT_NOT_CHOSEN)
		return;
	if (id)
		flight_function(id << 4, (struct flight_frame){.place = place, .kind = FLIGHT_BY_PLACE});
	else
		flight_lose();
}

__attribute__((visibility("hidden"))) void tw_flight_return(const uint8_t *behind, uint64_t place)
{
	(void)behind;
	if (!flight_is_off())
		flight_return((struct flight_frame){.place = place, .kind = FLIGHT_BY_PLACE});
}

/* ---- Places. ---- */

extern void __fentry__(void);
extern void __return__(void);

struct places {
	uint64_t *at;
	size_t count;
};

/* Source: gcc, -mrecord-mcount and -mrecord-return: an address for each. */
static struct places find(const struct dl_phdr_info *object, const struct flight_elf *elf, const char *name)
{
	const Elf64_Shdr *section = flight_elf_section(elf, name);
	if (!section || !(section->sh_flags & SHF_ALLOC))
		return (struct places){0};
	return (struct places){(uint64_t *)(object->dlpi_addr + section->sh_addr), section->sh_size / sizeof(uint64_t)};
}

static bool is_code(const struct dl_phdr_info *object, uint64_t place)
{
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		const uint64_t distance = place - (object->dlpi_addr + part->p_vaddr);
		if (part->p_type == PT_LOAD && part->p_flags & PF_X && distance < part->p_memsz &&
		    part->p_memsz - distance > CALL_SIZE)
			return true;
	}
	return false;
}

static bool is_empty(const struct dl_phdr_info *object, uint64_t place)
{
	static const uint8_t nothing[CALL_SIZE] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	return is_code(object, place) && memcmp((const uint8_t *)place, nothing, sizeof nothing) == 0;
}

/* All at once, but where it is in two lines of the processor's memory: another thread may be there. */
static void put_call(uint8_t *place, const uint8_t *target)
{
	uint8_t call[sizeof(uint64_t)] = {CALL};
	const int32_t distance = (int32_t)(target - (place + CALL_SIZE));
	memcpy(call + 1, &distance, sizeof distance);
	if ((uint64_t)place % LINE > LINE - sizeof call) {
		memcpy(place, call, CALL_SIZE);
		return;
	}
	uint64_t code;
	memcpy(call + CALL_SIZE, place + CALL_SIZE, sizeof call - CALL_SIZE);
	memcpy(&code, call, sizeof code);
	__atomic_store_n((uint64_t *)place, code, __ATOMIC_RELEASE);
}

struct entry_code {
	uint64_t first, last;
};

static void extend(struct entry_code *extent, const struct dl_phdr_info *object, const struct places *places)
{
	for (size_t i = 0; i < places->count; i++)
		if (is_empty(object, places->at[i])) {
			extent->first = places->at[i] < extent->first ? places->at[i] : extent->first;
			extent->last = places->at[i] > extent->last ? places->at[i] : extent->last;
		}
}

static uint64_t patch(const struct dl_phdr_info *object, const struct places *places, const uint8_t *target)
{
	uint64_t patched = 0;
	for (size_t i = 0; i < places->count; i++)
		if (is_empty(object, places->at[i])) {
			put_call((uint8_t *)places->at[i], target);
			patched++;
		}
	return patched;
}

static bool protect(const struct entry_code *extent, int protection)
{
	const uint64_t first = extent->first & ~UINT64_C(4095);
	return mprotect((void *)first, extent->last + CALL_SIZE - first, protection) == 0;
}

uint64_t flight_patch_places(const struct dl_phdr_info *object, const struct flight_elf *elf)
{
	static void (*const functions[])(void) = {__fentry__, __return__};
	const struct places entries = find(object, elf, "__mcount_loc"), exits = find(object, elf, "__return_loc");
	struct entry_code extent = {UINT64_MAX, 0};
	if (entries.count + exits.count == 0 || !flight_elf_has_exits(elf))
		return 0;
	extend(&extent, object, &entries);
	extend(&extent, object, &exits);
	uint8_t *jumps = extent.last ? flight_make_jump(extent.first, functions, 2) : NULL;
	if (!jumps || !protect(&extent, PROT_READ | PROT_WRITE | PROT_EXEC))
		return 0;
	flight_add_object((const void *)extent.first);
	const uint64_t patched = patch(object, &entries, jumps) + patch(object, &exits, jumps + FLIGHT_JUMP);
	protect(&extent, PROT_READ | PROT_EXEC);
	return patched;
}

#else

uint64_t flight_patch_places(const struct dl_phdr_info *object, const struct flight_elf *elf)
{
	(void)object;
	(void)elf;
	return 0;
}

#endif
