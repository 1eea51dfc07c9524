/* test_input.c - the same bytes from files, pipes, memory, gzip and zstd; whole, cut and damaged. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "base/bytes/input.h"
#include "base/threads/parallel.h"

#include <trackway/status.h>

#include "suite.h"

enum { DATA = 700001, ROOM = 2 * DATA };

struct fixture {
	char path[64];
	uint8_t *data;   /* DATA bytes: some compress, some do not */
	uint8_t *packed; /* ROOM */
	uint8_t *got;    /* ROOM */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	*state = f;
	snprintf(f->path, sizeof f->path, "/tmp/test_input.%d", (int)getpid());
	f->data = malloc(DATA);
	f->packed = malloc(ROOM);
	f->got = malloc(ROOM);
	uint64_t x = 1;
	for (size_t i = 0; i < DATA; i++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		f->data[i] = i / 4096 % 2 ? (uint8_t)(x >> 56) : (uint8_t)(i / 64);
	}
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	unlink(f->path);
	free(f->data);
	free(f->packed);
	free(f->got);
	free(f);
	return 0;
}

/* ---- Making files. ---- */

static void write_all(int fd, const void *bytes, size_t size)
{
	const char *p = bytes;
	while (size) {
		ssize_t n = write(fd, p, size);
		if (n < 0)
			_exit(1); /* the reader went away */
		p += n;
		size -= (size_t)n;
	}
}

static void make_file(const struct fixture *f, const void *bytes, size_t size)
{
	int fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	write_all(fd, bytes, size);
	close(fd);
}

static size_t gzip(uint8_t *out, const uint8_t *bytes, size_t size)
{
	z_stream z = {.next_in = (Bytef *)bytes, .avail_in = (uInt)size, .avail_out = ROOM / 2};
	z.next_out = out;
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return z.total_out;
}

static size_t zstd(uint8_t *out, const uint8_t *bytes, size_t size)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	size_t n = ZSTD_compress2(context, out, ROOM / 2, bytes, size);
	ZSTD_freeCCtx(context);
	assert_false(ZSTD_isError(n));
	return n;
}

static const struct {
	size_t (*pack)(uint8_t *out, const uint8_t *bytes, size_t size);
	const char *name;
	size_t block; /* so much, at most, is lost before a cut */
} packers[] = {{gzip, "gzip", 1 << 15}, {zstd, "zstd", 1 << 17}};

enum { PACKERS = 2 };

/* Standard input becomes a pipe that a child writes into, `step` bytes at a time. Returns the child. */
static pid_t feed_stdin(const uint8_t *bytes, size_t size, size_t step)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		close(ends[0]);
		for (size_t at = 0; at < size; at += step)
			write_all(ends[1], bytes + at, size - at < step ? size - at : step);
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	return child;
}

/* ---- Reading. ---- */

/* Reads from `offset` to the end in steps, into f->got; closes. Returns where the end is. */
static uint64_t drain(struct fixture *f, struct tw_input *input, uint64_t offset, size_t step)
{
	for (;;) {
		assert_true(offset + step <= ROOM);
		int64_t n = tw_input_read(input, offset, f->got + offset, step);
		assert_true(n >= 0 && (size_t)n <= step);
		offset += (uint64_t)n;
		if ((size_t)n < step)
			return offset;
	}
}

static struct tw_input *open_file(const struct fixture *f)
{
	struct tw_input *input;
	assert_int_equal(tw_input_open(&input, f->path), 0);
	return input;
}

static void expect_data(struct fixture *f, struct tw_input *input, size_t step, size_t size)
{
	assert_int_equal(drain(f, input, 0, step), size);
	assert_memory_equal(f->got, f->data, size);
	assert_int_equal(tw_input_size(input), size);
	assert_string_equal(tw_input_error(input), "");
	assert_false(tw_input_damaged(input));
	tw_input_close(input);
}

static void test_file(void **state)
{
	struct fixture *f = *state;
	make_file(f, f->data, DATA);
	struct tw_input *input = open_file(f);
	assert_string_equal(tw_input_name(input), f->path);
	assert_true(tw_input_seekable(input));
	assert_int_equal(tw_input_size(input), DATA);
	assert_int_equal(tw_input_read(input, DATA - 5, f->got, 10), 5);
	assert_memory_equal(f->got, f->data + DATA - 5, 5);
	assert_int_equal(tw_input_read(input, 17, f->got, 10), 10);
	assert_memory_equal(f->got, f->data + 17, 10);
	assert_int_equal(tw_input_read(input, DATA, f->got, 10), 0);
	assert_int_equal(tw_input_read(input, UINT64_MAX, f->got, 10), 0);
	assert_int_equal(tw_input_spool(input, "/nowhere"), 0); /* nothing to do */
	uint64_t done, all;
	tw_input_progress(input, &done, &all);
	assert_int_equal(all, DATA);
	assert_int_equal(done, 15);
	expect_data(f, input, 4097, DATA);
}

static void test_small_files(void **state)
{
	struct fixture *f = *state;
	for (size_t size = 0; size < 8; size++) {
		make_file(f, f->data, size);
		expect_data(f, open_file(f), 100, size);
		struct tw_input *input;
		assert_int_equal(tw_input_memory(&input, "memory", f->data, size), 0);
		expect_data(f, input, 100, size);
	}
}

static void test_magic_alone(void **state)
{
	struct fixture *f = *state;
	static const char *const files[] = {"\x1f\x8b\x08", "\x1f\x8b\x07\x01", "\x28\xb5\x2f", "\x1f\x8b\x08\xff"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		make_file(f, files[i], strlen(files[i]));
		struct tw_input *input = open_file(f);
		assert_true(tw_input_seekable(input)); /* not compressed */
		assert_int_equal(drain(f, input, 0, 64), strlen(files[i]));
		tw_input_close(input);
	}
}

static void expect_failure(const char *path, int error, const char *text)
{
	struct tw_input *input;
	assert_int_equal(tw_input_open(&input, path), TW_ERR_SYSTEM);
	assert_int_equal(errno, error);
	assert_string_equal(tw_input_error(input), text);
	tw_input_close(input);
}

static void test_cannot_open(void **state)
{
	(void)state;
	expect_failure("/tmp", EISDIR, "/tmp: is a directory");
	expect_failure("/nowhere/at all", ENOENT, "/nowhere/at all: No such file or directory");
	expect_failure("/nowhere\nelse", ENOENT, "/nowhere\\x0aelse: No such file or directory");
	expect_failure("", ENOENT, ": No such file or directory");
	tw_input_close(NULL);
}

/* Files of /proc have no size and can only be read. */
static void test_proc(void **state)
{
	struct fixture *f = *state;
	struct tw_input *input;
	assert_int_equal(tw_input_open(&input, "/proc/self/stat"), 0);
	uint64_t size = drain(f, input, 0, 7);
	assert_true(size > 20);
	assert_int_equal(f->got[size - 1], '\n');
	tw_input_close(input);
}

static void test_pipe(void **state)
{
	struct fixture *f = *state;
	static const size_t steps[] = {1, 3, 4096, 65537};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		size_t size = steps[i] < 10 ? 1000 : DATA;
		pid_t child = feed_stdin(f->data, size, steps[i]);
		struct tw_input *input;
		assert_int_equal(tw_input_open(&input, "-"), 0);
		assert_false(tw_input_seekable(input));
		assert_string_equal(tw_input_name(input), "<stdin>");
		expect_data(f, input, 1000, size);
		waitpid(child, NULL, 0);
	}
}

/* Standard input that is a file is read from where it stands. */
static void test_stdin_file(void **state)
{
	struct fixture *f = *state;
	make_file(f, f->data, DATA);
	int fd = open(f->path, O_RDONLY);
	assert_int_equal(lseek(fd, 4096, SEEK_SET), 4096);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	close(fd);
	struct tw_input *input;
	assert_int_equal(tw_input_open(&input, "-"), 0);
	assert_true(tw_input_seekable(input));
	assert_int_equal(tw_input_size(input), DATA - 4096);
	assert_int_equal(drain(f, input, 0, 5000), DATA - 4096);
	assert_memory_equal(f->got, f->data + 4096, DATA - 4096);
	tw_input_close(input);
}

static unsigned open_descriptors(void)
{
	unsigned count = 0;
	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Open only while it is read; not when the name is another file's. */
static void test_briefly(void **state)
{
	struct fixture *f = *state;
	unsigned before = open_descriptors();
	make_file(f, f->data, DATA);
	struct tw_input *input = open_file(f);
	tw_input_open_briefly(input);
	assert_int_equal(open_descriptors(), before);
	assert_int_equal(drain(f, input, 0, 5000), DATA);
	assert_memory_equal(f->got, f->data, DATA);
	assert_int_equal(open_descriptors(), before);
	unlink(f->path);
	assert_int_equal(tw_input_read(input, 0, f->got, 1), TW_ERR_SYSTEM);
	tw_input_close(input);
	make_file(f, f->data, DATA);
	input = open_file(f);
	tw_input_open_briefly(input);
	int first = open(f->path, O_RDONLY); /* keeps its inode */
	unlink(f->path);
	make_file(f, f->data, DATA);
	assert_int_equal(tw_input_read(input, 0, f->got, 1), TW_ERR_SYSTEM);
	assert_non_null(strstr(tw_input_error(input), "is another file"));
	tw_input_close(input);
	close(first);
}

/* The data in two halves, each packed: from a file, a pipe and memory. */
static void test_packed(void **state)
{
	struct fixture *f = *state;
	static const size_t steps[] = {ROOM / 2, 70000, 333};
	for (size_t p = 0; p < PACKERS; p++) {
		size_t size = packers[p].pack(f->packed, f->data, 300000);
		size += packers[p].pack(f->packed + size, f->data + 300000, 0); /* an empty member */
		size += packers[p].pack(f->packed + size, f->data + 300000, DATA - 300000);
		make_file(f, f->packed, size);
		for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
			struct tw_input *input = open_file(f);
			assert_false(tw_input_seekable(input));
			expect_data(f, input, steps[i], DATA);
			assert_int_equal(tw_input_memory(&input, "memory", f->packed, size), 0);
			expect_data(f, input, steps[i], DATA);
			pid_t child = feed_stdin(f->packed, size, steps[i]);
			assert_int_equal(tw_input_open(&input, "-"), 0);
			expect_data(f, input, steps[i], DATA);
			waitpid(child, NULL, 0);
		}
	}
}

static void test_packed_one_by_one(void **state)
{
	struct fixture *f = *state;
	for (size_t p = 0; p < PACKERS; p++) {
		size_t size = packers[p].pack(f->packed, f->data, 5000);
		pid_t child = feed_stdin(f->packed, size, 1);
		struct tw_input *input;
		assert_int_equal(tw_input_open(&input, "-"), 0);
		expect_data(f, input, 1, 5000);
		waitpid(child, NULL, 0);
	}
}

static void test_skippable_frames(void **state)
{
	struct fixture *f = *state;
	static const char skip[] = "\x5e\x2a\x4d\x18\x05\0\0\0hello";
	size_t size = 0;
	for (size_t i = 0; i < 3; i++) {
		memcpy(f->packed + size, skip, sizeof skip - 1);
		size += sizeof skip - 1;
		if (i < 2)
			size += zstd(f->packed + size, f->data + 1000 * i, 1000);
	}
	make_file(f, f->packed, size);
	expect_data(f, open_file(f), 300, 2000);
}

static void test_after_the_data(void **state)
{
	struct fixture *f = *state;
	for (size_t p = 0; p < PACKERS; p++) {
		size_t size = packers[p].pack(f->packed, f->data, 5000);
		memset(f->packed + size, 0, 1000);
		make_file(f, f->packed, size + 1000);
		expect_data(f, open_file(f), 6000, 5000);
		memcpy(f->packed + size + 1000, "garbage", 7);
		make_file(f, f->packed, size + 1007);
		struct tw_input *input = open_file(f);
		assert_int_equal(drain(f, input, 0, 6000), 5000);
		assert_memory_equal(f->got, f->data, 5000);
		assert_true(tw_input_damaged(input));
		char text[128];
		snprintf(text, sizeof text, "%s: offset 0x%zx: garbage after the %s data is ignored", f->path,
		         size + 1000, packers[p].name);
		assert_string_equal(tw_input_error(input), text);
		tw_input_close(input);
	}
}

/* All that was packed before a cut or a changed byte comes out, but for a block. */
static void test_cut(void **state)
{
	struct fixture *f = *state;
	for (size_t p = 0; p < PACKERS; p++) {
		size_t size = packers[p].pack(f->packed, f->data, DATA), most = 0;
		for (size_t cut = 4; cut < size; cut += cut < 64 ? 1 : 4099) {
			struct tw_input *input;
			assert_int_equal(tw_input_memory(&input, "cut", f->packed, cut), 0);
			uint64_t got = drain(f, input, 0, 50000);
			assert_memory_equal(f->got, f->data, got);
			assert_true(tw_input_damaged(input));
			char text[128];
			snprintf(text, sizeof text, "cut: offset 0x%zx: damaged %s data: the file ends too early", cut,
			         packers[p].name);
			assert_string_equal(tw_input_error(input), text);
			tw_input_close(input);
			assert_true(got >= most);
			most = got;
		}
		assert_true(most + packers[p].block + 2 * 4099 > DATA);
	}
}

static void test_cut_in_the_check(void **state)
{
	struct fixture *f = *state;
	for (size_t p = 0; p < PACKERS; p++) {
		size_t size = packers[p].pack(f->packed, f->data, 5000);
		make_file(f, f->packed, size - 1);
		struct tw_input *input = open_file(f);
		assert_int_equal(drain(f, input, 0, 6000), 5000);
		assert_true(tw_input_damaged(input));
		tw_input_close(input);
		f->packed[size - (p ? 1 : 5)] ^= 1; /* the last byte of the check sum; gzip has the size after it */
		make_file(f, f->packed, size);
		input = open_file(f);
		assert_in_range(drain(f, input, 0, 6000), p ? 0 : 5000, 5000);
		assert_true(tw_input_damaged(input));
		tw_input_close(input);
	}
}

/* How many bytes of the data the library gives for the beginning of what was packed. */
static size_t unpacked(const uint8_t *packed, size_t size)
{
	static uint8_t bytes[DATA];
	ZSTD_DCtx *context = ZSTD_createDCtx();
	ZSTD_inBuffer in = {packed, size, 0};
	ZSTD_outBuffer out = {bytes, sizeof bytes, 0};
	while (in.pos < in.size)
		assert_false(ZSTD_isError(ZSTD_decompressStream(context, &out, &in)));
	ZSTD_freeDCtx(context);
	return out.pos;
}

/* A bad block in the middle of the zstd frame: those before it come out, to the last byte. */
static void test_bad_block(void **state)
{
	struct fixture *f = *state;
	size_t size = zstd(f->packed, f->data, DATA);
	/* RFC 8878, section 3.1.1.1: magic, flags, the window where there is no single segment, the size in 4 bytes. */
	assert_int_equal(f->packed[4] & 0xc0, 0x80);
	size_t at = 4 + 1 + (f->packed[4] & 0x20 ? 0 : 1) + 4;
	for (size_t block = 0; block < 2; block++) /* RFC 8878, section 3.1.1.2: last, type, size */
		at += 3 + ((f->packed[at] | (size_t)f->packed[at + 1] << 8 | (size_t)f->packed[at + 2] << 16) >> 3);
	f->packed[at] |= 6; /* a type that is reserved */
	const size_t good = unpacked(f->packed, at);
	assert_in_range(good, 1, DATA - 1);
	static const size_t steps[] = {ROOM / 2, 1 << 17, 100000, 999};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		struct tw_input *input;
		assert_int_equal(tw_input_memory(&input, "bad", f->packed, size), 0);
		assert_int_equal(drain(f, input, 0, steps[i]), good);
		assert_memory_equal(f->got, f->data, good);
		assert_true(tw_input_damaged(input));
		tw_input_close(input);
	}
}

static void test_flipped_bytes(void **state)
{
	struct fixture *f = *state;
	for (size_t p = 0; p < PACKERS; p++) {
		size_t size = packers[p].pack(f->packed, f->data, 50000);
		for (size_t at = 4; at < size; at += at < 40 ? 1 : 197) {
			f->packed[at] ^= 0x55;
			struct tw_input *input;
			assert_int_equal(tw_input_memory(&input, "flip", f->packed, size), 0);
			assert_true(drain(f, input, 0, 1 << 16) <= ROOM);
			assert_true(!*tw_input_error(input) ||
			            strncmp(tw_input_error(input), "flip: offset 0x", 15) == 0);
			tw_input_close(input);
			f->packed[at] ^= 0x55;
		}
	}
}

/* A frame that asks for a window of 2^31 bytes. Source: RFC 8878, section 3.1.1.1.2: exponent 21 above 2^10. */
static void test_huge_window(void **state)
{
	struct fixture *f = *state;
	static const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x09, 0, 0, 'x'};
	struct tw_input *input;
	assert_int_equal(tw_input_memory(&input, "huge", frame, sizeof frame), 0);
	assert_int_equal(drain(f, input, 0, 100), 0);
	assert_non_null(strstr(tw_input_error(input), "too much memory"));
	tw_input_close(input);
}

static void test_growing_file(void **state)
{
	struct fixture *f = *state;
	make_file(f, f->data, 10000);
	struct tw_input *input = open_file(f);
	assert_int_equal(tw_input_read(input, 0, f->got, 100), 100);
	make_file(f, f->data, 20000);
	expect_data(f, input, 3000, 10000);
}

static void test_shrinking_file(void **state)
{
	struct fixture *f = *state;
	make_file(f, f->data, DATA);
	struct tw_input *input = open_file(f);
	struct tw_window window = {.input = input, .chunk = 5000};
	const uint8_t *bytes;
	size_t have;
	assert_int_equal(tw_window_view(&window, 0, 100, &bytes, &have), 0);
	assert_int_equal(truncate(f->path, 10), 0);
	assert_int_equal(tw_input_read(input, 5, f->got, 5), 5);
	assert_int_equal(tw_window_view(&window, 1000, 100, &bytes, &have), 0); /* it has them */
	assert_memory_equal(bytes, f->data + 1000, 100);
	assert_int_equal(tw_input_read(input, 5, f->got, 100), TW_ERR_SYSTEM);
	assert_int_equal(tw_window_view(&window, 4990, 100, &bytes, &have), TW_ERR_SYSTEM);
	assert_non_null(strstr(tw_input_error(input), "was cut while it was read: 10 bytes are left of "));
	assert_int_equal(tw_input_read(input, DATA, f->got, 100), 0); /* where it ended */
	tw_window_free(&window);
	tw_input_close(input);
}

static void expect_spooled(struct fixture *f, struct tw_input *input, uint64_t from)
{
	assert_int_equal(tw_input_spool(input, NULL), 0);
	assert_true(tw_input_seekable(input));
	assert_int_equal(tw_input_size(input), DATA);
	assert_int_equal(drain(f, input, from, 70001), DATA);
	expect_data(f, input, 70001, DATA);
}

/* What was read before is in the copy too. */
static void test_spool(void **state)
{
	struct fixture *f = *state;
	for (size_t p = 0; p <= PACKERS; p++) {
		size_t size = p < PACKERS ? packers[p].pack(f->packed, f->data, DATA) : DATA;
		const uint8_t *bytes = p < PACKERS ? f->packed : f->data;
		for (size_t before = 0; before <= 300000; before += 100000) {
			struct tw_input *input;
			pid_t child = feed_stdin(bytes, size, 50000);
			assert_int_equal(tw_input_open(&input, "-"), 0);
			assert_int_equal(tw_input_read(input, 0, f->got, before), before);
			expect_spooled(f, input, before);
			waitpid(child, NULL, 0);
		}
		make_file(f, bytes, size);
		expect_spooled(f, open_file(f), 0);
	}
}

static void test_spool_nowhere(void **state)
{
	struct fixture *f = *state;
	size_t size = gzip(f->packed, f->data, 1000);
	struct tw_input *input;
	assert_int_equal(tw_input_memory(&input, "x.gz", f->packed, size), 0);
	assert_int_equal(tw_input_spool(input, "/nowhere"), TW_ERR_SYSTEM);
	assert_int_equal(errno, ENOENT);
	assert_string_equal(tw_input_error(input),
	                    "x.gz: no temporary file can be made in /nowhere: No such file or directory");
	tw_input_close(input);
}

static void test_spool_damaged(void **state)
{
	struct fixture *f = *state;
	size_t size = gzip(f->packed, f->data, DATA);
	struct tw_input *input;
	assert_int_equal(tw_input_memory(&input, "x.gz", f->packed, size - 1000), 0);
	assert_int_equal(tw_input_spool(input, NULL), 0);
	assert_true(tw_input_damaged(input));
	uint64_t got = drain(f, input, 0, 100000);
	assert_true(got > DATA - 5000 && got < DATA);
	assert_int_equal(tw_input_size(input), got);
	assert_memory_equal(f->got, f->data, got);
	tw_input_close(input);
}

/* ---- Windows. ---- */

/* Records of 1 to 97 bytes, and every 50th of 3000: each begins where the last ended. */
static void walk(struct fixture *f, struct tw_input *input, size_t chunk)
{
	struct tw_window window = {.input = input, .chunk = chunk};
	uint64_t at = 0;
	for (size_t i = 0;; i++) {
		size_t want = i % 50 ? i % 97 + 1 : 3000, have;
		const uint8_t *bytes;
		assert_int_equal(tw_window_view(&window, at, want, &bytes, &have), 0);
		assert_true(have >= want || at + have == 100000);
		assert_memory_equal(bytes, f->data + at, have);
		if (have == 0)
			break;
		at += have < want ? have : want;
	}
	assert_int_equal(at, 100000);
	assert_true(window.at_end);
	tw_window_free(&window);
	tw_input_close(input);
}

static void test_window(void **state)
{
	struct fixture *f = *state;
	static const size_t chunks[] = {0, 1, 2, 7, 64, 1000, 4096};
	size_t size = zstd(f->packed, f->data, 100000);
	make_file(f, f->data, 100000);
	for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
		walk(f, open_file(f), chunks[i]);
		struct tw_input *input;
		assert_int_equal(tw_input_memory(&input, "memory", f->packed, size), 0);
		walk(f, input, chunks[i]);
		pid_t child = feed_stdin(f->data, 100000, 777);
		assert_int_equal(tw_input_open(&input, "-"), 0);
		walk(f, input, chunks[i]);
		waitpid(child, NULL, 0);
	}
}

static void test_window_jumps(void **state)
{
	struct fixture *f = *state;
	make_file(f, f->data, DATA);
	struct tw_window window = {.input = open_file(f), .chunk = 500};
	static const uint64_t offsets[] = {0, 600000, 10, 11, 400, 800, 799, DATA - 1, 0};
	for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
		const uint8_t *bytes;
		size_t have;
		assert_int_equal(tw_window_view(&window, offsets[i], 300, &bytes, &have), 0);
		assert_true(have >= 300 || offsets[i] + have == DATA);
		assert_memory_equal(bytes, f->data + offsets[i], have);
	}
	tw_input_close(window.input);
	tw_window_free(&window);
}

/* A caller that wants one more byte each time has many more of each read. */
static void test_window_grows_by_chunks(void **state)
{
	struct fixture *f = *state;
	make_file(f, f->data, DATA);
	struct tw_window window = {.input = open_file(f), .chunk = 1000};
	const uint8_t *bytes;
	size_t have = 0;
	for (size_t views = 1; have < 50000; views++) {
		assert_int_equal(tw_window_view(&window, 0, have + 1, &bytes, &have), 0);
		assert_int_equal(have, 1000 * views);
	}
	tw_input_close(window.input);
	tw_window_free(&window);
}

/* What cannot seek can skip. */
static void test_window_skips(void **state)
{
	struct fixture *f = *state;
	pid_t child = feed_stdin(f->data, DATA, 65536);
	struct tw_window window = {.chunk = 1000};
	assert_int_equal(tw_input_open(&window.input, "-"), 0);
	const uint8_t *bytes;
	size_t have;
	for (uint64_t at = 5; at < DATA; at += 123457) {
		assert_int_equal(tw_window_view(&window, at, 10, &bytes, &have), 0);
		assert_true(have >= 10);
		assert_memory_equal(bytes, f->data + at, have);
	}
	assert_int_equal(tw_window_view(&window, DATA + 100, 10, &bytes, &have), 0);
	assert_int_equal(have, 0);
	tw_input_close(window.input);
	tw_window_free(&window);
	waitpid(child, NULL, 0);
}

/* What is held goes away with the buffer, but for what comes next. */
static void test_window_exchange(void **state)
{
	struct fixture *f = *state;
	make_file(f, f->data, 100000);
	struct tw_window window = {.input = open_file(f), .chunk = 1000};
	uint8_t *buffer = NULL;
	size_t room = 0, have;
	for (uint64_t at = 0; at < 100000;) {
		const uint8_t *bytes;
		assert_int_equal(tw_window_view(&window, at, 500, &bytes, &have), 0);
		size_t size = at + have == 100000 ? have : have - at % 400;
		assert_int_equal(tw_window_exchange(&window, size, &buffer, &room), 0);
		assert_true(room >= have);
		assert_memory_equal(buffer, f->data + at, have);
		at += size;
	}
	free(buffer);
	tw_input_close(window.input);
	tw_window_free(&window);
}

/* A window asks a pipe for no more than it needs: a live trace is shown at once. */
static void test_window_does_not_wait(void **state)
{
	struct fixture *f = *state;
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	write_all(ends[1], f->data, 100);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	struct tw_window window = {0};
	assert_int_equal(tw_input_open(&window.input, "-"), 0);
	const uint8_t *bytes;
	size_t have;
	assert_int_equal(tw_window_view(&window, 0, 64, &bytes, &have), 0);
	assert_int_equal(have, 100);
	assert_false(window.at_end);
	close(ends[1]);
	assert_int_equal(tw_window_view(&window, 64, 64, &bytes, &have), 0);
	assert_int_equal(have, 36);
	assert_true(window.at_end);
	tw_input_close(window.input);
	tw_window_free(&window);
}

struct together {
	struct fixture *f;
	struct tw_input *input;
	bool same[4];
};

static void read_part(void *context, unsigned i)
{
	struct together *t = context;
	uint8_t *bytes = malloc(5000);
	t->same[i] = true;
	for (size_t at = i; at < DATA; at += 4999) {
		size_t size = DATA - at < 5000 ? DATA - at : 5000;
		if (tw_input_read(t->input, at, bytes, 5000) != (int64_t)size ||
		    memcmp(bytes, t->f->data + at, size) != 0)
			t->same[i] = false;
	}
	free(bytes);
}

static void test_read_by_several_threads(void **state)
{
	struct fixture *f = *state;
	make_file(f, f->data, DATA);
	struct together t = {.f = f, .input = open_file(f)};
	tw_parallel(4, read_part, &t);
	for (size_t i = 0; i < 4; i++)
		assert_true(t.same[i]);
	tw_input_close(t.input);
}

/* One that touches another, one inside of another, one that reaches beyond another, one alone; of none there are none. */
static void test_joined_pieces(void **state)
{
	struct tw_piece pieces[] = {{20, 1, 0}, {10, 5, 0}, {0, 4, 0}, {4, 2, 0}, {12, 1, 0}, {13, 4, 0}};
	static const struct tw_piece joined[] = {{0, 6, 0}, {10, 7, 6}, {20, 1, 13}};
	size_t count = sizeof pieces / sizeof *pieces;
	(void)state;
	assert_int_equal(tw_join_pieces(pieces, &count), 14);
	assert_int_equal(count, 3);
	assert_memory_equal(pieces, joined, sizeof joined);
	count = 0;
	assert_int_equal(tw_join_pieces(pieces, &count), 0);
	assert_int_equal(count, 0);
}

SUITE(input)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_file, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_small_files, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_magic_alone, setup, teardown),
	    cmocka_unit_test(test_cannot_open),
	    cmocka_unit_test_setup_teardown(test_proc, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_pipe, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_stdin_file, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_briefly, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_packed, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_packed_one_by_one, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_skippable_frames, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_after_the_data, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_cut_in_the_check, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_bad_block, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_flipped_bytes, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_huge_window, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_growing_file, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_shrinking_file, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_spool, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_spool_nowhere, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_spool_damaged, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_jumps, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_grows_by_chunks, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_skips, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_exchange, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_does_not_wait, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_read_by_several_threads, setup, teardown),
	    cmocka_unit_test(test_joined_pieces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
