/* recording.c - where a thread's recording begins, and goes on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/recording.h"

#include "base/bytes/bytes.h"

void recording_put_registers(struct guest_thread *thread, struct collect_board *board)
{
	uint8_t bytes[8 * TW_XTRACE_REGISTERS];
	for (unsigned i = 0; i < TW_XTRACE_REGISTERS; i++)
		tw_store64(bytes + 8 * i, machine_register(&thread->machine, i), false);
	const struct tw_xtrace_token token = {.kind = TW_XTRACE_ALLGPR, .payload = bytes, .payload_size = sizeof bytes};
	stream_token(&thread->stream, board, &token);
}

void recording_begin(struct guest_thread *thread, struct collect_board *board, bool ordered)
{
	if (thread->began)
		recording_put_registers(thread, board);
	else
		stream_open(&thread->stream, board, ordered);
	thread->began = thread->recording = true;
}
