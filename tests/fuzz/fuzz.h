/* fuzz.h - what the fuzz targets share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/trackway.h>

/* What is called with an input: by libFuzzer, or by replay.c for each file. The first byte of every input selects options;
 * the rest is the trace. Always 0. */
typedef int fuzz_function(const uint8_t *bytes, size_t size);

fuzz_function LLVMFuzzerTestOneInput;

/* A target of replay.c's. */
struct fuzz_target {
	const char *name;
	fuzz_function *run;
	struct fuzz_target *next;
};

void fuzz_add(struct fuzz_target *target);

/* Begins the function of a target: libFuzzer has one in a program, replay.c finds it by its name, from before main(). */
#ifdef WITH_LIBFUZZER
#define FUZZ_TARGET(title, ...) int LLVMFuzzerTestOneInput(__VA_ARGS__)
#else
#define FUZZ_TARGET(title, ...)                                                                                        \
	static fuzz_function run_target;                                                                               \
	__attribute__((constructor)) static void join_targets(void)                                                    \
	{                                                                                                              \
		static struct fuzz_target target = {.name = #title, .run = run_target};                                \
		fuzz_add(&target);                                                                                     \
	}                                                                                                              \
	static int run_target(__VA_ARGS__)
#endif

/* Aborts, saying what does not hold. */
void fuzz_require(bool holds, const char *what);

/* Options of a reader, a bit or two of the selector for each. */
struct tw_read_options fuzz_options(uint8_t selector);

/* Opens a trace in memory, with what every failure must keep. NULL when it cannot be read. */
struct tw_reader *fuzz_open(const uint8_t *bytes, size_t size, const struct tw_read_options *options);

/* Checks a status of a reader: good, or with an error text. Returns whether it is good. */
bool fuzz_good(const struct tw_reader *reader, int status);

/* Makes the sanitizers look at every byte. */
void fuzz_touch(const uint8_t *bytes, uint64_t size);

/* Reads all events, touches each, and checks what holds of every event. */
void fuzz_drain(struct tw_reader *reader);

/* Makes a file of these bytes. */
void fuzz_write(const char *path, const uint8_t *bytes, size_t size);

struct tw_output;

/* An output to a file in memory, which is made once and emptied by each call. */
void fuzz_scratch(struct tw_output *out);

/* Ends the output and gives the bytes that were written. Freed by the caller. */
uint8_t *fuzz_scratch_bytes(struct tw_output *out, size_t *size);

#endif
