/* arguments.c - what functions were given and returned.
 *
 * Specifications tell it, "strlen@arg1/s;big@arg1/t8:pt,fparg1/32": in info those that were asked for and those for the
 * C library, in NAME.dbg those that debugging information told. A value is padded to 4 bytes; a text has its length
 * before it. A specification holds for data of just the size that it asks for: what none fits stays bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/memory/order.h"
#include "base/text/scan.h"
#include "uftrace/uftrace.h"

#include <stdlib.h>
#include <string.h>

enum { PADDING = 4, WORD_BITS = 64, BYTE_BITS = 8, SIZE_MOST = 1 << 12 };

/* ---- Specifications. ---- */

static int by_name(const void *a, const void *b)
{
	const struct uftrace_spec *first = a, *second = b;
	int order = strcmp(first->name, second->name);
	return order ? order : tw_compare(first->order, second->order);
}

/* A part of a text. */
struct span {
	const char *bytes;
	size_t length;
};

static int begins_with(const void *spec, const void *name)
{
	const struct span *wanted = name;
	return strncmp(((const struct uftrace_spec *)spec)->name, wanted->bytes, wanted->length);
}

/* Returns the first specification of a name, or where it would be. */
static size_t first_of(struct uftrace_specs *specs, const char *name, size_t length)
{
	const struct span wanted = {name, length};
	if (!specs->sorted && specs->count)
		qsort(specs->items, specs->count, sizeof *specs->items, by_name);
	specs->sorted = true;
	return tw_count_before(specs->items, specs->count, sizeof *specs->items, &wanted, begins_with);
}

/* What is said of a function's arguments, or of what it returned. */
struct spec_texts {
	const char *texts[UFTRACE_SIZES];
	size_t count;
};

/* Whether a specification is about what the record tells: returned values have their own ("retval"). */
static bool fits_type(const struct uftrace_spec *spec, enum uftrace_type type)
{
	return (strncmp(spec->text, "retval", 6) == 0) == (type == UFTRACE_EXIT);
}

static void add_found(struct uftrace_specs *specs, const char *name, size_t length, enum uftrace_type type,
                      struct spec_texts *found)
{
	for (size_t i = first_of(specs, name, length); i < specs->count && found->count < UFTRACE_SIZES; i++) {
		const struct uftrace_spec *spec = &specs->items[i];
		if (strncmp(spec->name, name, length) != 0 || spec->name[length])
			return;
		if (fits_type(spec, type))
			found->texts[found->count++] = spec->text;
	}
}

/* Finds what is said of a function: under its whole name, then under its name without parameters, by which users ask
 * for functions of C++. */
static struct spec_texts find_specs(struct tw_reader *reader, uint32_t function, enum uftrace_type type)
{
	struct uftrace_specs *specs = &uftrace_of(reader)->specs;
	const char *name = tw_dictionary_name(reader->dictionary, function)->text;
	struct spec_texts found = {.count = 0};
	size_t length = strlen(name), simple = strcspn(name, "(");
	add_found(specs, name, length, type, &found);
	if (simple < length)
		add_found(specs, name, simple, type, &found);
	return found;
}

/* ---- A value: "arg1/d32%rdi", "fparg2/32", "retval/s", "arg3/t8:pt". ---- */

struct spec_value {
	const char *name;
	size_t name_size;
	char format; /* 0: as uftrace guesses it */
	size_t size; /* bytes; of a text that it is there with */
};

/* Reads one; *text moves behind it. */
static void read_value(const char **text, struct spec_value *value)
{
	const char *at = *text;
	uint64_t bits = WORD_BITS;
	*value = (struct spec_value){.name = at, .name_size = strcspn(at, "/%,")};
	if (strncmp(at, "fparg", 5) == 0)
		value->format = 'f';
	at += value->name_size;
	if (*at == '/') {
		at++;
		if ((*at < '0' || *at > '9') && *at)
			value->format = *at++;
		bits = value->format == 'c' ? BYTE_BITS : WORD_BITS;
		if (*at >= '0' && *at <= '9')
			(void)tw_scan_number(&at, 10, &bits);
		bits = value->format == 't' && bits < SIZE_MOST ? bits * BYTE_BITS : bits; /* told in bytes */
	}
	value->size = bits < SIZE_MOST * BYTE_BITS ? (size_t)bits / BYTE_BITS : SIZE_MAX;
	at += strcspn(at, ",");
	*text = *at ? at + 1 : at;
}

static bool is_text(const struct spec_value *value)
{
	return value->format == 's' || value->format == 'S';
}

/* Bytes that the value takes; SIZE_MAX: more than there are. */
static size_t room_of(const struct spec_value *value, const uint8_t *data, size_t have)
{
	size_t size = value->size;
	if (is_text(value))
		size = have < 2 ? SIZE_MAX : 2 + (size_t)tw_load16(data, false);
	if (size > have || (size == 0 && value->format != 't')) /* a struct may be empty */
		return SIZE_MAX;
	size = (size + PADDING - 1) / PADDING * PADDING;
	return size < have ? size : have;
}

static uint64_t number_of(const uint8_t *data, size_t size)
{
	uint64_t number = 0;
	for (size_t i = size; i-- > 0;)
		number = number << BYTE_BITS | data[i];
	return number;
}

static int64_t signed_of(uint64_t number, size_t size)
{
	unsigned shift = WORD_BITS - BYTE_BITS * (unsigned)size;
	return (int64_t)(number << shift) >> shift;
}

/* The value of a register without a format: what looks like a small negative number of 32 bits is taken as one, as
 * uftrace does. */
static int64_t guessed(uint64_t number)
{
	enum { SMALL = 100000 };
	return number <= UINT32_MAX && number > UINT32_MAX - SMALL ? (int32_t)number : (int64_t)number;
}

static void put_bytes(struct tw_argument *argument, enum tw_argument_type type, const uint8_t *bytes, size_t size)
{
	argument->type = (uint8_t)type;
	argument->value.bytes = bytes;
	argument->size = (uint32_t)size;
}

static void put_float(struct tw_argument *argument, uint64_t number, size_t size)
{
	argument->type = TW_ARG_DOUBLE;
	if (size == sizeof argument->value.d) {
		argument->value.u = number;
		return;
	}
	const uint32_t word = (uint32_t)number;
	float single;
	memcpy(&single, &word, sizeof single);
	argument->value.d = (double)single;
}

static void put_text(struct tw_argument *argument, const uint8_t *data)
{
	static const uint8_t null[] = {0xff, 0xff, 0xff, 0xff};
	size_t size = tw_load16(data, false);
	if (size == sizeof null && memcmp(data + 2, null, sizeof null) == 0)
		argument->type = TW_ARG_NULL;
	else
		put_bytes(argument, TW_ARG_TEXT, data + 2, size);
}

static void put_value(struct tw_argument *argument, const struct spec_value *value, const uint8_t *data)
{
	size_t size = value->size;
	if (is_text(value)) {
		put_text(argument, data);
	} else if (value->format == 'c' && size == 1) {
		put_bytes(argument, TW_ARG_TEXT, data, size);
	} else if (value->format == 'f' && (size == sizeof(float) || size == sizeof(double))) {
		put_float(argument, number_of(data, size), size);
	} else if (value->format == 't' || size > sizeof(uint64_t)) {
		put_bytes(argument, TW_ARG_BYTES, data, size);
	} else {
		uint64_t number = number_of(data, size);
		bool has_sign = value->format == 'd' || value->format == 'i' || value->format == 'e';
		argument->type = value->format == 'p'         ? TW_ARG_POINTER
		                 : has_sign || !value->format ? TW_ARG_INT
		                                              : TW_ARG_UINT;
		argument->value.u = number;
		if (argument->type == TW_ARG_INT)
			argument->value.i = has_sign ? signed_of(number, size) : guessed(number);
	}
}

/* ---- All values behind a record. ---- */

/* Bytes that a specification asks for; SIZE_MAX: more than there are. */
static size_t size_of(const char *text, const uint8_t *data, size_t have)
{
	size_t at = 0;
	for (unsigned count = 0; *text && count < UFTRACE_ARGUMENTS; count++) {
		struct spec_value value;
		read_value(&text, &value);
		size_t room = room_of(&value, data + at, have - at);
		if (room == SIZE_MAX)
			return SIZE_MAX;
		at += room;
	}
	return at;
}

/* Rounds a size up to where the next record may begin. */
static size_t whole(size_t size)
{
	return (size + UFTRACE_WORD - 1) / UFTRACE_WORD * UFTRACE_WORD;
}

int uftrace_data_sizes(struct tw_reader *reader, struct uftrace_task *task, const struct uftrace_record *record,
                       const uint8_t *data, size_t have, size_t sizes[UFTRACE_SIZES])
{
	int count = 0;
	if (record->type == UFTRACE_EVENT && have >= 2)
		sizes[count++] = whole(2 + (size_t)tw_load16(data, false));
	if (!task || (record->type != UFTRACE_ENTRY && record->type != UFTRACE_EXIT))
		return count;
	uint32_t session = uftrace_session_of(uftrace_of(reader), task, record->time);
	uint32_t function = uftrace_name(reader, session, record->address);
	if (function == UINT32_MAX)
		return TW_ERR_MEMORY;
	struct spec_texts found = find_specs(reader, function, record->type);
	for (size_t i = 0; i < found.count; i++) {
		size_t size = size_of(found.texts[i], data, have);
		if (size && size <= UFTRACE_DATA_MOST - UFTRACE_RECORD_SIZE)
			sizes[count++] = whole(size);
	}
	return count;
}

/* Returns how many; 0 where the specification does not fit the data, or a negative status. */
static int put_values(struct tw_reader *reader, const char *text, const uint8_t *data, size_t size,
                      struct tw_argument *arguments)
{
	size_t at = 0;
	int count = 0;
	while (*text && count < UFTRACE_ARGUMENTS) {
		struct spec_value value;
		read_value(&text, &value);
		size_t room = room_of(&value, data + at, size - at);
		if (room == SIZE_MAX || value.name_size == 0)
			return 0;
		const struct tw_name name = {.text = value.name, .length = value.name_size};
		struct tw_argument *argument = &arguments[count++];
		*argument = (struct tw_argument){.name = tw_dictionary_intern(reader->dictionary, &name)};
		if (argument->name == UINT32_MAX)
			return tw_fail_memory(reader);
		put_value(argument, &value, data + at);
		at += room;
	}
	return !*text && size - at < UFTRACE_WORD ? count : 0;
}

/* What uftrace itself tells at functions, by number; the data begins with its size. */
static const struct {
	const char *name, *values;
} built_in[] = {
    {"read:proc/statm", "vmsize/i,vmrss/i,shared/i"}, /* kilobytes */
    {"read:page-fault", "major/i,minor/i"},           {"diff:proc/statm", "vmsize/i,vmrss/i,shared/i"},
    {"diff:page-fault", "major/i,minor/i"},           {"read:pmu-cycle", "cycles/i,instructions/i"},
    {"diff:pmu-cycle", "cycles/i,instructions/i"},    {"read:pmu-cache", "refers/i,misses/i"},
    {"diff:pmu-cache", "refers/i,misses/i"},          {"read:pmu-branch", "branch/i,misses/i"},
    {"diff:pmu-branch", "branch/i,misses/i"},         {"watch:cpu", "cpu/i32"},
};

enum { FIRST_BUILT_IN = 100001, BUILT_IN = sizeof built_in / sizeof *built_in };

const char *uftrace_built_in_event(uint64_t number)
{
	return number - FIRST_BUILT_IN < BUILT_IN ? built_in[number - FIRST_BUILT_IN].name : NULL;
}

static int put_event(struct tw_reader *reader, const struct uftrace_record *record, const uint8_t *data,
                     struct tw_argument *arguments)
{
	size_t size = tw_load16(data, false);
	if (record->address - FIRST_BUILT_IN >= BUILT_IN || size > record->data_size - 2)
		return 0;
	return put_values(reader, built_in[record->address - FIRST_BUILT_IN].values, data + 2, size, arguments);
}

int uftrace_arguments(struct tw_reader *reader, uint32_t function, const struct uftrace_record *record,
                      const uint8_t *data, struct tw_argument *arguments)
{
	if (!record->data_size)
		return 0;
	if (record->event)
		return uftrace_kernel_arguments(reader, record, data, arguments);
	if (record->type == UFTRACE_EVENT)
		return put_event(reader, record, data, arguments);
	if (record->type != UFTRACE_ENTRY && record->type != UFTRACE_EXIT)
		return 0;
	struct spec_texts found = find_specs(reader, function, record->type);
	int count = 0;
	for (size_t i = 0; i < found.count && count == 0; i++)
		count = put_values(reader, found.texts[i], data, record->data_size, arguments);
	return count;
}
