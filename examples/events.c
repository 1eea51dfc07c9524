/* events.c - every event of a trace of any format in the order of time, one a line: time in ns, thread, kind, name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include <trackway/reader.h>

static void print_finding(void *context, const struct tw_finding *finding)
{
	(void)context;
	fprintf(stderr, "%s: %s: %s\n", finding->file, tw_severity_name(finding->severity), finding->text);
}

static void print_batch(const struct tw_reader *reader, const struct tw_batch *batch)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	uint64_t start = tw_reader_clock(reader)->start_ns;
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		printf("%" PRIu64 " %" PRIu64 " %s %s\n", event->time - start,
		       tw_dictionary_track(dictionary, event->track)->thread, tw_event_kind_name(event->kind),
		       tw_dictionary_name(dictionary, event->name)->text);
	}
}

int main(int argc, char **argv)
{
	const struct tw_read_options options = {.order = TW_ORDER_TIME, .on_finding = print_finding};
	struct tw_reader *reader = NULL;
	struct tw_batch batch;
	int status = tw_open(&reader, argc > 1 ? argv[1] : "-", &options);

	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		print_batch(reader, &batch);
	if (status < 0)
		fprintf(stderr, "%s\n", reader ? tw_reader_error(reader) : tw_status_text(status));
	tw_close(reader);
	return status < 0;
}
