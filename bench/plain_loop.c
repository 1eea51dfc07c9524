/* plain_loop.c - the least that a reader of a format must do, over the mapped file: what commands are held against. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include <trackway/xtrace.h>

enum { ROUNDS = 5 };

struct bytes {
	const uint8_t *at, *end;
};

static uint64_t load64(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* From header to header: the size is in the header, in a large record's in more bits. Returns how many there are. */
static uint64_t hop_fxt(struct bytes left)
{
	uint64_t records = 0;

	while (left.end - left.at >= 8) {
		uint64_t header = load64(left.at),
			 words = (header & 15) == 15 ? header >> 4 & 0xffffffff : header >> 4 & 0xfff;

		if (words == 0 || words > (uint64_t)(left.end - left.at) / 8)
			break;
		left.at += 8 * words;
		records++;
	}
	return records;
}

enum {
	XRAY_FILE_HEADER = 32,
	XRAY_FUNCTION = 8,
	XRAY_METADATA = 16,
	XRAY_CUSTOM_EVENT = 5,
	XRAY_TYPED_EVENT = 8,
};

/* Adds up the deltas of function records, and of what else has a body goes behind it. */
static uint64_t add_deltas(struct bytes left)
{
	uint64_t sum = 0;

	for (left.at += XRAY_FILE_HEADER; left.end - left.at >= XRAY_METADATA;) {
		uint8_t first = left.at[0], kind = first >> 1;

		if (first & 1) {
			left.at += XRAY_METADATA;
			if (kind == XRAY_CUSTOM_EVENT || kind == XRAY_TYPED_EVENT)
				left.at += load64(left.at - XRAY_METADATA + 1) & 0xffffffff;
		} else {
			sum += load64(left.at) >> 32;
			left.at += XRAY_FUNCTION;
		}
	}
	return sum;
}

static uint64_t find_lines(struct bytes left)
{
	uint64_t lines = 0;

	while ((left.at = memchr(left.at, '\n', (size_t)(left.end - left.at)))) {
		left.at++;
		lines++;
	}
	return lines;
}

/* Bytes behind a token byte, by its kind; 0: there is none. */
static void know_tokens(uint16_t sizes[256])
{
	static const struct {
		uint8_t token;
		uint16_t payload;
	} kinds[] = {
#define X(name, token, payload, text) {token, payload},
	    TW_XTRACE_TOKEN_LIST(X)
#undef X
	};

	for (unsigned byte = 0; byte < 256; byte++)
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
			unsigned class = byte & 7, bits = class == 1 ? 0x3f : class == 2 ? 0x0f : 0xff;

			if ((byte & bits) == kinds[i].token)
				sizes[byte] = (uint16_t)(kinds[i].payload + (class == 2 ? 1U << (byte >> 4) : 0));
		}
}

static uint64_t step_tokens(struct bytes left)
{
	static uint16_t sizes[256];
	uint64_t tokens = 0;

	know_tokens(sizes);
	for (size_t size; left.end > left.at && (size = sizes[*left.at]); left.at += size + 1, tokens++)
		if (size + 1 > (size_t)(left.end - left.at))
			break;
	return tokens;
}

static const struct {
	const char *name;
	uint64_t (*loop)(struct bytes bytes);
} formats[] = {
    {"fxt", hop_fxt},
    {"xray", add_deltas},
    {"lines", find_lines},
    {"xtrace", step_tokens},
};

static double processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What mapping takes is the system's, and differs from machine to machine: the clock starts when all is mapped. */
static int measure(uint64_t (*loop)(struct bytes), struct bytes bytes)
{
	double begin = processor_seconds();
	uint64_t found = 0;

	for (int i = 0; i < ROUNDS; i++)
		found = loop(bytes);
	printf("%.6f %llu\n", (processor_seconds() - begin) / ROUNDS, (unsigned long long)found);
	return 0;
}

/* plain_loop FORMAT FILE: prints the seconds of processor time of one loop, and its result. */
int main(int count, char **words)
{
	struct stat status;
	int file = count == 3 ? open(words[2], O_RDONLY) : -1;

	if (file < 0 || fstat(file, &status) || status.st_size == 0) {
		fprintf(stderr, "usage: plain_loop fxt|xray|lines|xtrace FILE\n");
		return 2;
	}
	const uint8_t *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
	if (bytes == MAP_FAILED)
		return 2;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(words[1], formats[i].name))
			return measure(formats[i].loop, (struct bytes){bytes, bytes + status.st_size});
	return 2;
}
