/* xtrace_bytes.h - token streams by hand, and the rules that reading them breaks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_BYTES_H
#define XTRACE_BYTES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <trackway/trackway.h>

/* The bytes of numbers, the least significant first. */
#define W32(v) (uint8_t)(v), (uint8_t)((v) >> 8), (uint8_t)((v) >> 16), (uint8_t)((v) >> 24)
#define W64(v) W32((uint64_t)(v)), W32((uint64_t)(v) >> 32)

/* Tokens, by the document's table. */
#define PCINST(pc, opcode) 0x09, W64(pc), W32(opcode)
#define INST(opcode) 0x01, W32(opcode)
#define PCINST_EL1(pc, opcode) 0x49, W64(pc), W32(opcode)
#define LOAD8(address) 0x32, W64(address), W64(1)
#define LOAD4(address) 0x22, W64(address), W32(1)
#define STORE8(address) 0x3a, W64(address), W64(1)
#define STXR(value) 0x03, W64(value)
#define MRS(value) 0x0b, W64(value)
#define SVCARG(value) 0x13, W64(value)
#define SVCRET(value) 0x1b, W64(value)
#define DC(value) 0x23, W64(value)
#define TARGET(value) 0x2b, W64(value)
#define FLAGS(value) 0x1c, W64(value)
#define TIME(value) 0x07, W64(value)

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

enum { RULES_TEXT = 1024 };

/* Findings as a line: rule and offsets of each, as "xtrace.unknown-token@13 ". */
struct found {
	char text[RULES_TEXT];
};

static inline void note_finding(void *context, const struct tw_finding *finding)
{
	struct found *found = context;
	size_t length = strlen(found->text);
	snprintf(found->text + length, sizeof found->text - length, "%s%s@%llu", length ? " " : "", finding->rule,
	         (unsigned long long)finding->record);
}

/* Checks a stream; gives what was found. */
static inline void check_stream(const uint8_t *bytes, size_t size, struct found *found)
{
	const struct tw_read_options options = {.format = "xtrace",
	                                        .checking = TW_CHECK_ALL,
	                                        .findings_only = true,
	                                        .on_finding = note_finding,
	                                        .finding_context = found};
	struct tw_reader *reader;
	struct tw_batch batch;
	int status;
	*found = (struct found){0};
	assert_int_equal(tw_open_memory(&reader, "stream", bytes, size, &options), 0);
	while ((status = tw_read(reader, &batch)) > 0)
		;
	assert_int_equal(status, 0);
	tw_close(reader);
}

#endif
