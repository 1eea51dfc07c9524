/* fuzz_xtrace_decode.c - any bytes as tokens and snapshots of xtrace: what decodes encodes to the same bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static void back_and_forth(const uint8_t *bytes, const struct tw_xtrace_token *token)
{
	uint8_t *again = malloc(token->size);
	size_t size = 0;
	fuzz_require(again != NULL, "memory is enough");
	fuzz_require(tw_xtrace_encode(token, again, token->size, &size) == 0 && size == token->size,
	             "what decodes can be encoded, in the same size");
	fuzz_require(memcmp(bytes, again, size) == 0, "a token is encoded as it was");
	fuzz_require(tw_xtrace_encode(token, again, token->size - 1, &size) == TW_ERR_ROOM && size == token->size,
	             "a byte less is too little room");
	free(again);
}

static void take_tokens(const uint8_t *bytes, size_t left)
{
	struct tw_xtrace_token token;
	while (left) {
		int status = tw_xtrace_decode(bytes, left, &token);
		size_t step = 1;
		if (status > 0) {
			fuzz_require(token.size <= left, "a token is within the bytes");
			fuzz_touch(token.payload, token.payload_size);
			back_and_forth(bytes, &token);
			step = token.size;
		} else if (status == TW_ERR_ROOM) {
			fuzz_require(token.size > left, "a token that needs more than there is");
		} else {
			fuzz_require(status == TW_ERR_FORMAT, "a status of the contract");
		}
		bytes += step;
		left -= step;
	}
}

static void take_snapshots(const uint8_t *bytes, size_t size)
{
	struct tw_xtrace_layout layout;
	struct tw_xtrace_header header;
	struct tw_xtrace_snapshot snapshot;
	if (tw_xtrace_layout_guess(bytes, size, size, 0, &layout) < 0)
		return;
	tw_xtrace_header_decode(bytes, &layout, &header);
	size_t step = tw_xtrace_snapshot_size(&layout);
	uint8_t *again = malloc(step);
	fuzz_require(again != NULL, "memory is enough");
	for (size_t at = layout.header_size; size - at >= step; at += step) {
		int status = tw_xtrace_snapshot_decode(bytes + at, &layout, &snapshot);
		fuzz_require(status == 0 || at > layout.header_size, "the layout is right for the first snapshot");
		tw_xtrace_snapshot_encode(&snapshot, &layout, again);
		fuzz_require(memcmp(bytes + at, again, step) == 0, "a snapshot is encoded as it was");
	}
	free(again);
}

FUZZ_TARGET(xtrace_decode, const uint8_t *bytes, size_t size)
{
	if (size < 1)
		return 0;
	if (bytes[0] & 1)
		take_snapshots(bytes + 1, size - 1);
	else
		take_tokens(bytes + 1, size - 1);
	return 0;
}
