/* own_events.c - events of this program, in the format that a file name asks for: own_events out.json, or out.pftrace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <trackway/trackway.h>

#define MS UINT64_C(1000000)

/* The numbers of what the events name. */
struct names {
	struct tw_dictionary *dictionary;
	uint32_t thread, work, part, memory, items, bytes;
};

/* A thread of a process, both with a name. */
static uint32_t add_thread(struct tw_dictionary *dictionary)
{
	const struct tw_track process = {.process = 100, .kind = TW_TRACK_PROCESS};
	const struct tw_track thread = {.process = 100, .thread = 101, .kind = TW_TRACK_THREAD};
	uint32_t number = tw_dictionary_add_track(dictionary, &thread);
	tw_dictionary_name_track(dictionary, number, tw_dictionary_text(dictionary, "main"));
	tw_dictionary_name_track(dictionary, tw_dictionary_add_track(dictionary, &process),
	                         tw_dictionary_text(dictionary, "example"));
	return number;
}

static struct names add_names(struct tw_dictionary *dictionary)
{
	struct names names = {
	    .dictionary = dictionary,
	    .thread = add_thread(dictionary),
	    .work = tw_dictionary_text(dictionary, "work"),
	    .part = tw_dictionary_text(dictionary, "part"),
	    .memory = tw_dictionary_text(dictionary, "memory"),
	    .items = tw_dictionary_text(dictionary, "items"),
	    .bytes = tw_dictionary_text(dictionary, "bytes"),
	};
	return names;
}

/* A slice of 3 ms with an argument, one of 1 ms in it, and a counter of one series. */
static int write_events(struct tw_writer *writer, struct tw_reader *trace, const struct names *names)
{
	const struct tw_argument arguments[] = {
	    {.name = names->items, .type = TW_ARG_UINT, .value = {.u = 7}},
	    {.name = names->bytes, .type = TW_ARG_UINT, .value = {.u = 4096}},
	};
	const struct tw_event events[] = {
	    {.kind = TW_SLICE_COMPLETE,
	     .time = 1 * MS,
	     .value = 3 * MS,
	     .track = names->thread,
	     .name = names->work,
	     .argument_count = 1},
	    {.kind = TW_SLICE_COMPLETE, .time = 2 * MS, .value = 1 * MS, .track = names->thread, .name = names->part},
	    {.kind = TW_COUNTER,
	     .time = 3 * MS,
	     .track = names->thread,
	     .name = names->memory,
	     .first_argument = 1,
	     .argument_count = 1},
	};
	const struct tw_batch batch = {events, sizeof events / sizeof *events, arguments};
	return tw_write(writer, trace, &batch);
}

static int write_file(const char *path, const struct names *names)
{
	const struct tw_own_trace own = {.dictionary = names->dictionary, .clock = {.start_ns = 1 * MS}};
	const char *format = tw_writer_format_of(path);
	struct tw_reader *trace = NULL;
	struct tw_writer *writer = NULL;
	int status = tw_open_own(&trace, &own, NULL);
	if (status == 0)
		status = tw_create(&writer, path, format ? format : "chrome", NULL);
	if (status == 0)
		status = write_events(writer, trace, names);
	if (status == 0)
		status = tw_finish(writer);
	if (status < 0)
		fprintf(stderr, "%s\n", writer ? tw_writer_error(writer) : tw_status_text(status));
	tw_discard(writer);
	tw_close(trace);
	return status;
}

int main(int argc, char **argv)
{
	struct tw_dictionary *dictionary = tw_dictionary_new();
	const struct names names = add_names(dictionary);
	int status = write_file(argc > 1 ? argv[1] : "own.json", &names);
	tw_dictionary_free(dictionary);
	return status < 0;
}
