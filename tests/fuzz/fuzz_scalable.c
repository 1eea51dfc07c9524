/* fuzz_scalable.c - any opcode with any registers: an access of SVE has its bytes in registers, and there are not too many. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/bytes/bytes.h"
#include "collect/scalable/scalable.h"

#include <string.h>

enum {
	OPCODE = 1, /* behind the selector: opcode, base, offset, vector, predicate, FFR */
	BASE = OPCODE + 4,
	OFFSET = BASE + 8,
	VECTOR = OFFSET + 8,
	PREDICATE = VECTOR + SCALABLE_VECTOR,
	FAULTS = PREDICATE + SCALABLE_PREDICATE,
	END = FAULTS + SCALABLE_PREDICATE
};

static void check(const struct scalable *op, unsigned length, const struct scalable_access *access)
{
	unsigned end = op->of_predicate ? length / 8 : length;
	fuzz_require(access->size && access->at + access->size <= end, "its bytes are in the register");
	fuzz_require(access->number < op->registers && op->registers <= 4, "it is one of the registers");
	fuzz_require(access->address >> 55 == 0 || access->address >> 55 == 0x1ff, "addresses have no tag");
}

FUZZ_TARGET(scalable, const uint8_t *bytes, size_t size)
{
	uint8_t input[END] = {0};
	struct scalable_access accesses[SCALABLE_MOST];
	struct scalable op;
	memcpy(input, bytes, size < sizeof input ? size : sizeof input);
	const struct scalable_registers registers = {.length = 16u * (input[0] % 16u + 1u),
	                                             .base = tw_load64(input + BASE, false),
	                                             .offset = tw_load64(input + OFFSET, false),
	                                             .vector = input + VECTOR,
	                                             .predicate = input + PREDICATE,
	                                             .faults = input + FAULTS};
	if (!scalable_decode(tw_load32(input + OPCODE, false), &op))
		return 0;
	size_t count = scalable_accesses(&op, &registers, accesses);
	fuzz_require(count <= SCALABLE_MOST, "there are no more than bytes");
	for (size_t i = 0; i < count; i++)
		check(&op, registers.length, &accesses[i]);
	return 0;
}
