/* guess.c - how the files are laid out: found from the bytes, or told. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <trackway/xtrace.h>

#include <stdlib.h>
#include <string.h>

/* ---- From the bytes. ---- */

enum { INST_LEAST = 5 }; /* bytes of the shortest instruction */

/* Whether the index counts instructions: it grows by less than instructions take bytes, from most snapshots to the
 * next of the same data file. One that is damaged does not decide. */
static bool counts_instructions(const uint8_t *bytes, size_t size, const struct tw_xtrace_layout *layout)
{
	struct tw_xtrace_snapshot snapshot, before = {.count = UINT64_MAX};
	size_t step = tw_xtrace_snapshot_size(layout), yes = 0, no = 0;
	for (size_t at = layout->header_size; at <= size && size - at >= step; at += step) {
		if (tw_xtrace_snapshot_decode(bytes + at, layout, &snapshot) < 0)
			break;
		bool grows = snapshot.count > before.count && snapshot.index > before.index;
		if (grows && snapshot.file == before.file) {
			bool grows_less = snapshot.index - before.index < INST_LEAST * (snapshot.count - before.count);
			yes += grows_less;
			no += !grows_less;
		}
		before = snapshot;
	}
	return yes > no;
}

/* How many snapshots a layout makes sense of, from the first on; *all: of all that are there. The first may have
 * counters that are damaged, if there is another one. */
static size_t count_sensible(const uint8_t *bytes, size_t size, const struct tw_xtrace_layout *layout, bool *all)
{
	struct tw_xtrace_snapshot snapshot, before = {0};
	size_t step = tw_xtrace_snapshot_size(layout), count = 0, sound = 0, at = layout->header_size;
	for (; at <= size && size - at >= step; at += step, count++) {
		if (tw_xtrace_snapshot_decode(bytes + at, layout, &snapshot) < 0)
			break;
		const bool follows =
		    !sound || (snapshot.count > before.count && snapshot.user_count >= before.user_count);
		if (follows && snapshot.user_count <= snapshot.count) {
			before = snapshot;
			sound++;
		} else if (count) {
			break;
		}
	}
	*all = at > size || size - at < step;
	return sound ? count : 0;
}

/* Whether a guess does not contradict what is known. */
static bool agrees(const struct tw_xtrace_layout *guess, const struct tw_xtrace_layout *layout, unsigned known)
{
	return !((known & TW_XTRACE_KNOWN_HEADER && guess->header_size != layout->header_size) ||
	         (known & TW_XTRACE_KNOWN_ZA && guess->has_za != layout->has_za) ||
	         (known & TW_XTRACE_KNOWN_BITS && guess->vector_bits != layout->vector_bits));
}

/* Rates how well a layout fits: by how many snapshots make sense, best if all do; where that is equal, by whether they
 * fill the file. */
static size_t score(const uint8_t *bytes, size_t size, uint64_t file_size, const struct tw_xtrace_layout *guess)
{
	bool all;
	size_t count = count_sensible(bytes, size, guess, &all);
	uint64_t header = guess->header_size;
	bool fills = file_size >= header && (file_size - header) % tw_xtrace_snapshot_size(guess) == 0;
	return count ? (all ? size : 0) + 2 * count + fills : 0;
}

int tw_xtrace_layout_guess(const uint8_t *bytes, size_t size, uint64_t file_size, unsigned known,
                           struct tw_xtrace_layout *layout)
{
	static const uint8_t headers[] = {24, 0, 19, 20, 32}; /* the likeliest first */
	static const unsigned all = TW_XTRACE_KNOWN_HEADER | TW_XTRACE_KNOWN_ZA | TW_XTRACE_KNOWN_BITS;
	const struct tw_xtrace_layout given = *layout;
	size_t most = 0;
	for (unsigned i = 0; i < sizeof headers; i++)
		for (unsigned bits = 128; bits <= 2048; bits += 128)
			for (int za = 1; za >= 0; za--) {
				struct tw_xtrace_layout guess = {.header_size = headers[i],
				                                 .has_za = za,
				                                 .vector_bits = (uint16_t)bits};
				size_t found =
				    agrees(&guess, &given, known) ? score(bytes, size, file_size, &guess) : 0;
				if (found > most)
					*layout = guess;
				most = found > most ? found : most;
			}
	layout->data_start = given.data_start;
	layout->zero_block = given.zero_block;
	layout->counts_index =
	    known & TW_XTRACE_KNOWN_INDEX ? given.counts_index : most && counts_instructions(bytes, size, layout);
	return most || (known & all) == all ? 0 : TW_ERR_FORMAT;
}

/* ---- From words. ---- */

static bool parse_header(const char *value, struct tw_xtrace_layout *layout)
{
	char *end;
	unsigned long size = strtoul(value, &end, 10);
	layout->header_size = (uint8_t)size;
	return end != value && *end == '\0' && (size == 0 || size == 19 || size == 20 || size == 24 || size == 32);
}

static bool parse_bits(const char *value, struct tw_xtrace_layout *layout)
{
	char *end;
	unsigned long bits = strtoul(value, &end, 10);
	if (end == value || *end || bits > 2048)
		return false;
	layout->vector_bits = (uint16_t)bits;
	return tw_xtrace_snapshot_size(layout) > 0;
}

static bool parse_start(const char *value, struct tw_xtrace_layout *layout)
{
	char *end;
	unsigned long start = strtoul(value, &end, 10);
	layout->data_start = (uint8_t)start;
	return end != value && *end == '\0' && start <= UINT8_MAX;
}

static bool parse_zero(const char *value, struct tw_xtrace_layout *layout)
{
	enum { LEAST = 4, MOST = 2048 };
	char *end;
	unsigned long size = strtoul(value, &end, 10);
	layout->zero_block = (uint16_t)size;
	return end != value && *end == '\0' && size >= LEAST && size <= MOST && (size & (size - 1)) == 0;
}

static bool parse_za(const char *value, struct tw_xtrace_layout *layout)
{
	layout->has_za = strcmp(value, "yes") == 0;
	return layout->has_za || strcmp(value, "no") == 0;
}

static bool parse_index(const char *value, struct tw_xtrace_layout *layout)
{
	layout->counts_index = strcmp(value, "count") == 0;
	return layout->counts_index || strcmp(value, "offset") == 0;
}

static const struct {
	const char *name;
	unsigned known;
	bool (*parse)(const char *value, struct tw_xtrace_layout *layout);
} parts[] = {
    {"header=", TW_XTRACE_KNOWN_HEADER, parse_header}, {"za=", TW_XTRACE_KNOWN_ZA, parse_za},
    {"bits=", TW_XTRACE_KNOWN_BITS, parse_bits},       {"index=", TW_XTRACE_KNOWN_INDEX, parse_index},
    {"start=", TW_XTRACE_KNOWN_START, parse_start},    {"zva=", TW_XTRACE_KNOWN_ZERO, parse_zero},
};

static bool parse_part(const char *part, struct tw_xtrace_layout *layout, unsigned *known)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		size_t length = strlen(parts[i].name);
		if (strncmp(part, parts[i].name, length) == 0) {
			*known |= parts[i].known;
			return parts[i].parse(part + length, layout);
		}
	}
	return false;
}

int tw_xtrace_layout_parse(const char *text, struct tw_xtrace_layout *layout, unsigned *known)
{
	enum { PART = 32 };
	*layout = (struct tw_xtrace_layout){0};
	*known = 0;
	for (;;) {
		char part[PART];
		size_t length = strcspn(text, ",");
		if (length >= PART)
			return TW_ERR_FORMAT;
		memcpy(part, text, length);
		part[length] = '\0';
		if (!parse_part(part, layout, known))
			return TW_ERR_FORMAT;
		if (text[length] == '\0')
			return 0;
		text += length + 1;
	}
}
