/* write.c - an FXT archive made record by record: a thread with three slices, one inside another. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <trackway/fxt.h>

enum { PROCESS = 100, THREAD = 101, THREAD_INDEX = 1, NAME_INDEX = 1 };

/* A string that stands in the record itself. */
static struct tw_fxt_string text(const char *bytes)
{
	const uint16_t length = (uint16_t)strlen(bytes);
	return (struct tw_fxt_string){TW_FXT_STRING_INLINE | length, length, (const uint8_t *)bytes};
}

static int put(FILE *out, const struct tw_fxt_record *record)
{
	uint8_t bytes[TW_FXT_RECORD_MAX * TW_FXT_WORD];
	size_t size;
	int status = tw_fxt_encode(record, false, bytes, sizeof bytes, &size);
	if (status == 0 && fwrite(bytes, 1, size, out) != size)
		status = TW_ERR_SYSTEM;
	return status;
}

/* What events refer to: how long a tick is, and a name and a thread by their indices. */
static int put_head(FILE *out)
{
	static const char name[] = "work";
	const struct tw_fxt_record records[] = {
	    {.kind = TW_FXT_MAGIC},
	    {.kind = TW_FXT_PROVIDER_INFO, .id = 1, .name = text("example")},
	    {.kind = TW_FXT_INITIALIZATION, .id = 1000000}, /* ticks per second */
	    {.kind = TW_FXT_STRING,
	     .index = NAME_INDEX,
	     .payload = (const uint8_t *)name,
	     .payload_size = sizeof name - 1},
	    {.kind = TW_FXT_THREAD, .index = THREAD_INDEX, .thread = {.process = PROCESS, .thread = THREAD}},
	};
	int status = 0;
	for (size_t i = 0; status == 0 && i < sizeof records / sizeof *records; i++)
		status = put(out, &records[i]);
	return status;
}

static int put_slice(FILE *out, uint64_t begin, uint64_t end, int64_t number)
{
	const struct tw_fxt_record record = {
	    .kind = TW_FXT_DURATION_COMPLETE,
	    .time = begin,
	    .end = end,
	    .thread = {.index = THREAD_INDEX},
	    .category = text("example"),
	    .name = {.reference = NAME_INDEX},
	    .argument_count = 1,
	    .arguments = {{.type = TW_FXT_ARG_INT64, .name = text("number"), .value = {.i = number}}},
	};
	return put(out, &record);
}

int main(int argc, char **argv)
{
	FILE *out = argc > 1 ? fopen(argv[1], "wb") : stdout;
	int status = out ? put_head(out) : TW_ERR_SYSTEM;
	if (status == 0)
		status = put_slice(out, 0, 1000, 1);
	if (status == 0)
		status = put_slice(out, 200, 300, 2);
	if (status == 0)
		status = put_slice(out, 1500, 1750, 3);
	if (out && fclose(out) != 0 && status == 0)
		status = TW_ERR_SYSTEM;
	if (status < 0)
		fprintf(stderr, "write: %s\n", status == TW_ERR_SYSTEM ? strerror(errno) : tw_status_text(status));
	return status < 0;
}
