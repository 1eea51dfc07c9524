/* format.c - uftrace's data as a format: finding it and opening it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "uftrace/uftrace.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_SIZE = 40, VERSION = 4, LITTLE = 1, DEMANGLE_BUDGET = 1 << 26 };

/* ---- The file `info`: a header, then lines "word:value". ---- */

static int take_header(struct tw_reader *reader, const uint8_t *bytes, size_t have)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	if (have < HEADER_SIZE)
		return tw_fail(reader, TW_ERR_FORMAT, "%s/info: expected a header of %d bytes, found %zu", reader->path,
		               HEADER_SIZE, have);
	uftrace->header.version = tw_load32(bytes + 8, false);
	if (bytes[14] != LITTLE)
		return tw_fail(reader, TW_ERR_UNSUPPORTED,
		               "%s/info: offset 0xe: expected byte order 1 (little endian), found %u", reader->path,
		               bytes[14]);
	if (uftrace->header.version != VERSION)
		return tw_fail(reader, TW_ERR_UNSUPPORTED, "%s/info: offset 0x8: expected version %d, found %u",
		               reader->path, VERSION, uftrace->header.version);
	uftrace->header.features = tw_load64(bytes + 16, false);
	return 0;
}

/* Takes which arguments and results were recorded: those that were asked for, and those that are known of the C
 * library. */
static bool take_specs(struct tw_reader *reader, const char *line, size_t size)
{
	static const char *const words[] = {"argspec:", "retspec:", "argauto:", "retauto:"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t length = strlen(words[i]);
		if (size > length && memcmp(line, words[i], length) == 0)
			return uftrace_add_specs(reader, line + length, size - length);
	}
	return true;
}

static bool take_info_line(struct uftrace_reader *uftrace, const char *line, size_t size)
{
	static const char *const words[] = {"exename:", "cmdline:", "record_date:"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t length = strlen(words[i]);
		if (size > length && memcmp(line, words[i], length) == 0 && !uftrace->header.texts[i].length)
			return tw_text_add(&uftrace->header.texts[i], line + length, size - length);
	}
	return true;
}

/* Takes the lines of the info file that are in its first bytes. What it tells of the machine is not used. */
static int take_info(struct tw_reader *reader, const uint8_t *bytes, size_t have)
{
	size_t at = tw_load16(bytes + 12, false), size;
	for (; at < have; at += size + 1) {
		const uint8_t *end = memchr(bytes + at, '\n', have - at);
		size = end ? (size_t)(end - bytes) - at : have - at;
		const char *line = (const char *)bytes + at;
		if (!take_info_line(uftrace_of(reader), line, size) || !take_specs(reader, line, size))
			return tw_fail_memory(reader);
	}
	return 0;
}

static int read_info(struct tw_reader *reader)
{
	const uint8_t *bytes;
	size_t have;
	/* A part has the input of its whole. */
	int status = reader->input ? 0 : uftrace_open_file(reader, "info", &reader->input);
	if (status < 0 || !reader->input)
		return status < 0 ? status : tw_fail(reader, TW_ERR_FORMAT, "%s: no file called info", reader->path);
	reader->window = (struct tw_window){.input = reader->input};
	status = tw_window_view(&reader->window, 0, UFTRACE_LINE_MOST, &bytes, &have);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	status = take_header(reader, bytes, have);
	return status < 0 ? status : take_info(reader, bytes, have);
}

/* ---- The entry. ---- */

static int uftrace_open(struct tw_reader *reader)
{
	if (!reader->path)
		return tw_fail(reader, TW_ERR_FORMAT, "%s: uftrace's data is a directory: name that",
		               tw_input_name(reader->input));
	reader->state = calloc(1, sizeof(struct uftrace_reader));
	char *folder = reader->whole ? NULL : tw_trace_folder(reader->path); /* of a file in it */
	if (!reader->state || (!reader->whole && !folder))
		return tw_fail_memory(reader);
	if (folder) {
		free(reader->own.path);
		reader->path = reader->own.path = folder;
	}
	if (reader->options.order == TW_ORDER_FILE)
		reader->options.order = TW_ORDER_TRACK;
	uftrace_of(reader)->symbols.demangle_budget = reader->options.mangled ? 0 : DEMANGLE_BUDGET;
	reader->clock.ticks_per_second = 1000000000;
	int status = read_info(reader);
	if (status >= 0)
		status = uftrace_read_tasks(reader);
	return status;
}

static void uftrace_close(struct tw_reader *reader)
{
	struct uftrace_reader *uftrace = reader->state;
	for (size_t i = 0; i < uftrace->tasks.count; i++) {
		free(uftrace->tasks.items[i].file);
		free(uftrace->tasks.items[i].open);
		uftrace_cursor_close(&uftrace->tasks.items[i].cursor);
	}
	for (size_t i = 0; i < uftrace->cpus.count; i++) {
		free(uftrace->cpus.items[i].file);
		uftrace_cpu_close(&uftrace->cpus.items[i]);
	}
	free(uftrace->cpus.items);
	free(uftrace->places.begins);
	tw_wanted_free(uftrace->places.wanted);
	for (size_t i = 0; i < sizeof uftrace->header.texts / sizeof *uftrace->header.texts; i++)
		tw_text_free(&uftrace->header.texts[i]);
	uftrace_symbols_free(&uftrace->symbols);
	uftrace_specs_free(&uftrace->specs);
	uftrace_kernel_free(&uftrace->kernel);
	tw_map_free(&uftrace->tasks.numbers);
	tw_map_free(&uftrace->tasks.event_names);
	free(uftrace->tasks.items);
	free(uftrace->order.heap);
	free(uftrace->sums.threads);
	free(uftrace);
}

static int probe(const uint8_t *bytes, size_t size)
{
	(void)bytes;
	(void)size;
	return 0; /* it is a directory */
}

const struct tw_format tw_format_uftrace = {
    .name = "uftrace",
    .title = "uftrace's data directory",
    .rules = uftrace_rules,
    .rule_count = UFTRACE_RULES,
    .traits =
	{
	    .copy_order = TW_ORDER_TIME,
	    .whole_folder = true,
	},
    .files =
	{
	    .probe = probe,
	    .claims = uftrace_claims,
	    .holds = uftrace_holds,
	    .member = uftrace_member,
	    .place = uftrace_place,
	},
    .reading =
	{
	    .open = uftrace_open,
	    .read = uftrace_read,
	    .read_record = uftrace_read_record,
	    .close = uftrace_close,
	},
    .survey =
	{
	    .info = uftrace_info,
	},
};
