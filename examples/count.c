/* count.c - how often each function ran, with Trackway's library. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include <trackway/trackway.h>

int main(int argc, char **argv)
{
	struct tw_profile *profile = NULL;
	struct tw_reader *reader = NULL;
	const struct tw_profile_row *row;
	int status = tw_profile_new(&profile, NULL);

	if (status == 0 && (status = tw_open(&reader, argc > 1 ? argv[1] : "-", NULL)) == 0)
		status = tw_profile_add(profile, reader);
	for (size_t i = 0; status == 0 && (row = tw_profile_row(profile, i)); i++)
		printf("%" PRIu64 " %s\n", row->count, row->name);
	if (status < 0)
		fprintf(stderr, "%s\n", reader ? tw_reader_error(reader) : tw_status_text(status));
	tw_close(reader);
	tw_profile_free(profile);
	return status < 0;
}
