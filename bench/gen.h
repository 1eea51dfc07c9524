/* gen.h - what the generators of traces share: random numbers, memory, options, and the file that is written. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_GEN_H
#define BENCH_GEN_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns a number below another; what comes next depends on *random alone. */
static inline uint32_t gen_draw(uint64_t *random, uint64_t below)
{
	*random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(((*random >> 32) * below) >> 32);
}

/* Returns zeroed memory, or ends the program. */
static inline void *gen_allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);
	if (!memory) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

/* ---- Options. ---- */

/* An option sets what is not NULL: a number, a text, or a flag, which has no argument. */
struct gen_option {
	const char *name;
	uint64_t *number;
	const char **text;
	bool *flag;
};

enum { GEN_OPTIONS_MAX = 16 };

static inline _Noreturn void gen_usage(const char *usage)
{
	fputs(usage, stderr);
	exit(2);
}

static inline void gen_take_option(const struct gen_option *option)
{
	if (option->number)
		*option->number = strtoull(optarg, NULL, 0);
	else if (option->text)
		*option->text = optarg;
	else
		*option->flag = true;
}

/* Takes options, the last of which has no name, and returns the file that is named behind them. */
static inline const char *gen_parse(int argc, char **argv, const struct gen_option *options, const char *usage)
{
	struct option names[GEN_OPTIONS_MAX] = {0};
	int index;
	for (size_t i = 0; options[i].name; i++)
		names[i] = (struct option){options[i].name, options[i].flag ? no_argument : required_argument, NULL, 1};
	for (int found; (found = getopt_long(argc, argv, "", names, &index)) != -1;) {
		if (found != 1)
			gen_usage(usage);
		gen_take_option(&options[index]);
	}
	if (optind != argc - 1)
		gen_usage(usage);
	return argv[optind];
}

/* ---- The file. ---- */

/* Returns a new file, or ends the program. */
static inline FILE *gen_open(const char *path)
{
	FILE *file = fopen(path, "wb");
	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

/* Returns the exit status of the program: 0, or 1 where the file could not be written. */
static inline int gen_close(FILE *file, const char *path)
{
	bool failed = ferror(file);
	if (fclose(file) == 0 && !failed)
		return 0;
	perror(path);
	return 1;
}

#endif
