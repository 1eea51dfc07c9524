/* decode.c - the parts of an xray-profiling log: bytes to structs and back. Source: compiler-rt, lib/xray,
 * xray_profile_collector.cpp. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiling/decode.h"

#include "base/bytes/bytes.h"

static const uint64_t magic = UINT64_C(0x7872617970726f66); /* "xrayprof" */

bool profiling_is_log(const uint8_t *bytes, bool *big)
{
	*big = tw_load64(bytes, true) == magic;
	return *big || tw_load64(bytes, false) == magic;
}

void profiling_header_decode(const uint8_t *bytes, struct profiling_header *header)
{
	profiling_is_log(bytes, &header->big);
	header->version = tw_load64(bytes + 8, header->big);
	header->time_ns = tw_load64(bytes + 16, header->big);
	header->process = tw_load64(bytes + 24, header->big);
}

void profiling_header_encode(const struct profiling_header *header, uint8_t *bytes)
{
	tw_store64(bytes, magic, header->big);
	tw_store64(bytes + 8, header->version, header->big);
	tw_store64(bytes + 16, header->time_ns, header->big);
	tw_store64(bytes + 24, header->process, header->big);
}

void profiling_block_decode(const uint8_t *bytes, bool big, struct profiling_block *block)
{
	block->size = tw_load32(bytes, big);
	block->number = tw_load32(bytes + 4, big);
	block->thread = tw_load64(bytes + 8, big);
}

void profiling_block_encode(const struct profiling_block *block, bool big, uint8_t *bytes)
{
	tw_store32(bytes, block->size, big);
	tw_store32(bytes + 4, block->number, big);
	tw_store64(bytes + 8, block->thread, big);
}

size_t profiling_path_decode(const uint8_t *bytes, size_t size, bool big, struct profiling_path *path)
{
	size_t at = 0;
	while (size - at >= PROFILING_ID_SIZE && tw_load32(bytes + at, big) != 0)
		at += PROFILING_ID_SIZE;
	if (size - at < PROFILING_ID_SIZE + PROFILING_SUMS_SIZE)
		return 0;
	const uint8_t *sums = bytes + at + PROFILING_ID_SIZE;
	*path = (struct profiling_path){
	    .ids = bytes,
	    .depth = at / PROFILING_ID_SIZE,
	    .calls = tw_load64(sums, big),
	    .ticks = tw_load64(sums + 8, big),
	    .big = big,
	};
	return at + PROFILING_ID_SIZE + PROFILING_SUMS_SIZE;
}

uint32_t profiling_path_id(const struct profiling_path *path, size_t i)
{
	return tw_load32(path->ids + i * PROFILING_ID_SIZE, path->big);
}
