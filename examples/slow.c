/* slow.c - what lasted 1 ms or longer in a trace of any format: start and duration in ns, thread, name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include <trackway/reader.h>

int main(int argc, char **argv)
{
	const struct tw_read_options options = {.min_duration_ns = 1000000,
	                                        .complete_slices = true,
	                                        .from_start = true};
	struct tw_reader *reader = NULL;
	struct tw_batch batch;
	int status = tw_open(&reader, argc > 1 ? argv[1] : "-", &options);
	const struct tw_dictionary *names = reader ? tw_reader_dictionary(reader) : NULL;

	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		for (const struct tw_event *event = batch.events; event < batch.events + batch.count; event++)
			if (event->kind == TW_SLICE_COMPLETE)
				printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", event->time, event->value,
				       tw_dictionary_track(names, event->track)->thread,
				       tw_dictionary_name(names, event->name)->text);
	if (status < 0)
		fprintf(stderr, "%s\n", reader ? tw_reader_error(reader) : tw_status_text(status));
	tw_close(reader);
	return status < 0;
}
