/* fuzz_program.c - any packets and descriptors from a manager: the traced program goes on, and answers in the protocol's
 * words. The first byte chooses nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "packets.h"

/* What a connection does, is inside of it. */
#include "trace/control.c"

#include <trackway/trace.h>

static void write_events(void)
{
	TW_TRACE_DURATION("fuzz", "around", TW_TEXT("text", "a text"));
	TW_TRACE_INSTANT("fuzz", "instant", TW_SCOPE_THREAD, TW_I32("number", 1));
	TW_TRACE_ALERT("fuzz", "alert");
	tw_trace_thread_name("fuzz");
}

static void check_answers(int manager)
{
	static const char *const known[] = {"hello",  "started", "refused", "stopped",
	                                    "status", "image",   "none",    "alert"};
	char text[CONTROL_TEXT + 1];
	for (ssize_t size; (size = recv(manager, text, CONTROL_TEXT, MSG_DONTWAIT)) > 0;) {
		bool found = false;
		text[size] = 0;
		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			found |= control_after(text, known[i]) != NULL;
		fuzz_require(found && size < CONTROL_TEXT, "an answer is of the protocol");
	}
}

static int count_descriptors(void)
{
	enum { SOME = 256 };
	int count = 0;
	for (int fd = 0; fd < SOME; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void talk_with(int manager, int talk, const uint8_t *bytes, size_t size)
{
	struct fuzz_packet packet;
	bool goes_on = true;
	for (int i = 0; i < FUZZ_PACKETS_MOST && goes_on && fuzz_packet(&bytes, &size, &packet); i++) {
		fuzz_send(manager, &packet, fuzz_descriptor(packet.descriptor, bytes, size));
		goes_on = take_packet(talk);
		write_events();
		check_answers(manager);
	}
	end_talk(talk);
	close(talk);
}

FUZZ_TARGET(program, const uint8_t *bytes, size_t size)
{
	struct trace_status status;
	int pair[2], before = count_descriptors();
	if (size < 1 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return 0;
	talk_with(pair[0], pair[1], bytes + 1, size - 1);
	close(pair[0]);
	trace_look(&status, false);
	fuzz_require(!status.on, "a recording ends with its manager");
	fuzz_require(count_descriptors() == before, "no descriptor is left open");
	return 0;
}
