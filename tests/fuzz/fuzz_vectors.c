/* fuzz_vectors.c - any bytes as basic block vectors of SimPoint, and as the list of blocks beside them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "study/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The path of a file in a directory of its own. */
static const char *path_of(const char *name)
{
	static char directory[] = "/tmp/trackway-fuzz-XXXXXX", path[2][64];
	static bool made;
	static unsigned turn;
	if (!made)
		fuzz_require(mkdtemp(directory) != NULL, "a directory");
	made = true;
	turn = !turn;
	snprintf(path[turn], sizeof path[turn], "%s/%s", directory, name);
	return path[turn];
}

/* Bit 0: there is a list of blocks, up to the first zero byte; bit 1: little memory; bit 2: an interval is told. */
FUZZ_TARGET(vectors, const uint8_t *bytes, size_t size)
{
	enum { LITTLE = 1 << 16, INTERVAL = 100, PHASES = 4 };
	char fault[STUDY_FAULT_ROOM];
	if (size < 1)
		return 0;
	const char *const blocks = path_of("v.blocks"), *const vectors = path_of("v.bb");
	const uint8_t *text = bytes + 1, *end = memchr(text, 0, size - 1);
	size_t listed = bytes[0] & 1 && end ? (size_t)(end - text) : 0;
	fuzz_write(blocks, text, listed);
	fuzz_write(vectors, text + listed, size - 1 - listed);
	const struct study_vectors wanted = {.paths = &vectors, .count = 1, .fault = fault};
	const struct tw_study_options options = {
	    .kind = TW_STUDY_PHASES,
	    .memory_limit = bytes[0] & 2 ? LITTLE : 0,
	    .interval = bytes[0] & 4 ? INTERVAL : 0,
	    .phases = PHASES,
	};
	struct tw_study *study = NULL;
	int status = study_read_vectors(&study, &wanted, &options);
	fuzz_require(status >= 0 || fault[0], "a failure is told");
	const struct tw_study_table *table;
	for (size_t i = 0; status >= 0 && (table = tw_study_table(study, i)); i++)
		fuzz_touch((const uint8_t *)table->cells,
		           table->row_count * table->column_count * sizeof *table->cells);
	tw_study_free(study);
	unlink(blocks);
	unlink(vectors);
	return 0;
}
