/* fuzz_manager.c - any packets from programs, and any bytes in the files that they were given: the manager goes on, and
 * writes an archive that has no errors, or says why not. The first byte: bits 0-1 how many programs there are besides
 * one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "packets.h"

/* What is done with packets is inside of it. */
#include "manage/record.c"

enum { PROGRAMS = 4 };

/* A program: its end of the connection, and the file that the manager has given it. */
struct program {
	int talk, file;
};

/* What the manager has said: a file is filled with what is left of the input. */
static void take_file(struct program *program, const uint8_t *content, size_t size)
{
	char text[CONTROL_TEXT];
	int fd;
	while (program->talk >= 0 && recv(program->talk, text, 1, MSG_DONTWAIT | MSG_PEEK) > 0) {
		if (control_receive(program->talk, text, &fd) <= 0)
			return;
		if (fd < 0)
			continue;
		fuzz_require(control_after(text, "start") != NULL, "a file is there to start with");
		if (pwrite(fd, content, size, 0) < 0)
			perror("pwrite");
		if (program->file >= 0)
			close(program->file);
		program->file = fd;
	}
}

static void talk_with(struct manager *manager, struct program *programs, const uint8_t **bytes, size_t *size)
{
	struct fuzz_packet packet;
	for (int i = 0; i < FUZZ_PACKETS_MOST && fuzz_packet(bytes, size, &packet); i++) {
		size_t which = packet.connection % manager->result->count;
		struct manage_provider *provider = &manager->result->providers[which];
		if (provider->talk < 0)
			continue;
		fuzz_send(programs[which].talk, &packet, fuzz_descriptor(packet.descriptor, *bytes, *size));
		take_packet(manager, provider);
		take_file(&programs[which], *bytes, *size);
		(void)is_over(manager);
	}
}

static void check_archive(const char *path)
{
	const struct tw_read_options options = {.order = TW_ORDER_FILE, .checking = TW_CHECK_ALL};
	struct tw_reader *reader = NULL;
	fuzz_require(tw_open(&reader, path, &options) == 0, "the archive can be opened");
	fuzz_drain(reader);
	fuzz_require(tw_reader_findings(reader, TW_ERROR) == 0, "the archive has no errors");
	tw_close(reader);
}

static void finish(struct manager *manager, struct program *programs, const char *output)
{
	struct manage_result *result = manager->result;
	stop_all(manager);
	if (manage_write(result, manager->wish) == 0)
		check_archive(output);
	else
		fuzz_require(*result->error != 0, "a failure says what it is");
	for (size_t i = 0; i < result->count; i++) {
		close(programs[i].talk);
		if (programs[i].file >= 0)
			close(programs[i].file);
		result->providers[i].archived.damaged = result->providers[i].archived.unreadable =
		    false; /* such files would stay */
	}
	unlink(output);
	remove_parts(result);
	manage_free(result);
}

FUZZ_TARGET(manager, const uint8_t *bytes, size_t size)
{
	char output[] = "/tmp/fuzz-manager-XXXXXX/out.fxt";
	char *slash = strrchr(output, '/');
	struct manage_result result = {.sched_image = -1};
	const struct manage_wish wish = {.output = output,
	                                 .options = "mode=streaming",
	                                 .stop_on = "alert",
	                                 .memory = 1 << 20};
	struct manager manager = {.wish = &wish, .result = &result, .listener.fd = -1, .signals = -1};
	struct program programs[PROGRAMS];
	if (size < 1)
		return 0;
	*slash = 0;
	bool made = mkdtemp(output) != NULL;
	*slash = '/';
	fuzz_require(made && make_parts(&manager) == 0, "a directory for files");
	for (int i = 0, pair[2]; i <= (bytes[0] & 3); i++) {
		fuzz_require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0, "a connection");
		programs[i] = (struct program){pair[0], -1};
		add(&manager, pair[1], true);
	}
	bytes++, size--;
	talk_with(&manager, programs, &bytes, &size);
	finish(&manager, programs, output);
	*slash = 0;
	fuzz_require(rmdir(output) == 0, "nothing is left");
	return 0;
}
