/* types.c - the names of typed events: programs describe a type, and are given its number. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/functions/types.h"

#include "flight/functions/elf.h"
#include "flight/log/log.h"
#include "flight/log/path.h"
#include "flight/sites/sled.h"
#include "flight/system.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>

/* As many as have numbers. A longer name, LLVM's has at most as much, is cut. */
enum { TYPES = 1 << 16, NAME = 1024, NAMES = 1 << 18 };
static struct type {
	const char *description; /* the address of its description in the program; types are told apart by it */
	const char *name;        /* what stood there */
	uint32_t length;
} types[TYPES];
static uint32_t type_count, busy;
static char names[NAMES];
static size_t names_used;

/* ---- Notes: "type name", the number hexadecimal. ---- */

static void note(uint32_t number)
{
	enum { DIGITS = 4, SPACE = 1 };
	static const char kind[16] = "trackway.event";
	const struct type *type = &types[number];
	char text[DIGITS + SPACE + NAME];
	for (unsigned i = 0; i < DIGITS; i++)
		text[i] = "0123456789abcdef"[number >> 4 * (DIGITS - 1 - i) & 15];
	text[DIGITS] = ' ';
	flight_copy(text + DIGITS + SPACE, type->name, type->length);
	if (type->length)
		flight_note(kind, sizeof kind, text, DIGITS + SPACE + type->length);
}

void flight_note_types(void)
{
	busy = 0; /* that of a parent's thread */
	for (uint32_t i = 0; i < type_count; i++)
		note(i);
}

/* ---- Numbers, from 0 on, as LLVM's runtime gives them. ---- */

static void add(const char *description)
{
	struct type *type = &types[type_count];
	uint32_t length = 0;
	while (length < NAME && description[length])
		length++;
	*type = (struct type){.description = description, .name = names + names_used};
	type->length = length <= NAMES - names_used ? length : 0;
	flight_copy(names + names_used, description, type->length);
	names_used += type->length;
	note(type_count++);
}

static uint32_t find(const char *description)
{
	uint32_t number = 0;
	while (number < type_count && types[number].description != description)
		number++;
	return number;
}

uint16_t tw_flight_register_type(const char *description);
__attribute__((visibility("hidden"))) uint16_t tw_flight_register_type(const char *description)
{
	if (!description || !flight_lock(&busy))
		return UINT16_MAX;
	const uint32_t number = find(description);
	if (number == type_count && number < TYPES)
		add(description);
	flight_unlock(&busy);
	return number < TYPES ? (uint16_t)number : UINT16_MAX;
}

/* For programs without LLVM's runtime. */
__attribute__((weak, visibility("default"), alias("tw_flight_register_type"))) uint16_t __xray_register_event_type(
    const char *description);

/* ---- LLVM's function. ---- */

static void redirect(uint8_t *function)
{
	enum { PAGE = 4096 };
	uint8_t *page = function - (uint64_t)function % PAGE;
	const uint64_t size = (uint64_t)(function - page) + FLIGHT_JUMP;
	if (mprotect(page, size, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) {
		flight_put_jump(function, (void (*)(void))tw_flight_register_type);
		mprotect(page, size, PROT_READ | PROT_EXEC);
	}
}

/* The program is the first object. */
static int take(struct dl_phdr_info *program, size_t size, void *context)
{
	char path[FLIGHT_PATH];
	(void)size;
	(void)context;
	struct flight_elf elf = flight_elf_open(flight_program_path(path));
	const Elf64_Sym *symbol =
	    flight_elf_section(&elf, "xray_instr_map") ? flight_elf_function(&elf, "__xray_register_event_type") : NULL;
	const uint64_t function = symbol ? program->dlpi_addr + symbol->st_value : 0;
	if (function && symbol->st_size >= FLIGHT_JUMP && function != (uint64_t)tw_flight_register_type)
		redirect((uint8_t *)function);
	flight_elf_close(&elf);
	return 1;
}

void flight_take_types(void)
{
	dl_iterate_phdr(take, NULL);
}
