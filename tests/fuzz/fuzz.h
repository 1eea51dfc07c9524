/* fuzz.h - what the fuzz targets share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/trackway.h>

/* A target: called by libFuzzer, or by replay.c for each file. The first byte of every input selects options; the rest is
 * the trace. Always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

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
