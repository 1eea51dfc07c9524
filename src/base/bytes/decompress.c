/* decompress.c - gzip and zstd, recognised by content and unpacked piece by piece. */
/* SPDX-License-Identifier: Apache-2.0 */
#define ZLIB_CONST /* input is const */
#include "base/bytes/decompress.h"

#include "base/bytes/bytes.h"

#include <trackway/status.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum outcome { MORE, MEMBER_END, BAD, NO_MEMORY };

struct tw_unpack {
	const struct codec *codec;
	struct tw_raw_bytes *raw;
	z_stream gzip;
	ZSTD_DStream *zstd;
	size_t want;      /* zstd: how much it asks for */
	uint64_t members; /* that were seen to their end */
	bool inside;      /* a member (gzip) or frame (zstd) */
	bool pending;     /* the last step filled its room: there may be more without more input */
	bool ended;
	char problem[160]; /* "" while there is none */
};

/* One compression. A file is any number of members, one after the other. */
struct codec {
	const char *name;
	bool (*magic)(const uint8_t *bytes); /* of TW_PACKED_MAGIC bytes */
	bool (*may_begin)(uint8_t first);    /* a further member */
	bool (*open)(struct tw_unpack *unpack);
	void (*begin)(struct tw_unpack *unpack);
	enum outcome (*step)(struct tw_unpack *unpack, uint8_t *bytes, size_t room, size_t *made);
	void (*close)(struct tw_unpack *unpack);
	uint64_t (*least)(int fd); /* tw_packed_file() */
};

static enum outcome bad(struct tw_unpack *unpack, const char *reason)
{
	snprintf(unpack->problem, sizeof unpack->problem, "damaged %s data: %s", unpack->codec->name, reason);
	return BAD;
}

static void take(struct tw_raw_bytes *raw, size_t size)
{
	raw->bytes += size;
	raw->left -= size;
}

/* ---- gzip. Source: RFC 1952, section 2.3. ---- */

static bool gzip_magic(const uint8_t *bytes)
{
	enum { DEFLATE = 8, RESERVED_FLAGS = 0xe0 };
	return bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == DEFLATE && !(bytes[3] & RESERVED_FLAGS);
}

static bool gzip_may_begin(uint8_t first)
{
	return first == 0x1f;
}

static bool gzip_open(struct tw_unpack *unpack)
{
	enum { GZIP_ONLY = 16 };
	return inflateInit2(&unpack->gzip, MAX_WBITS + GZIP_ONLY) == Z_OK;
}

static void gzip_begin(struct tw_unpack *unpack)
{
	inflateReset(&unpack->gzip);
}

static enum outcome gzip_step(struct tw_unpack *unpack, uint8_t *bytes, size_t room, size_t *made)
{
	z_stream *z = &unpack->gzip;
	uInt given = unpack->raw->left < UINT_MAX ? (uInt)unpack->raw->left : UINT_MAX;
	uInt free_bytes = room < UINT_MAX ? (uInt)room : UINT_MAX;
	z->next_in = unpack->raw->bytes;
	z->avail_in = given;
	z->next_out = bytes;
	z->avail_out = free_bytes;
	int result = inflate(z, Z_NO_FLUSH);
	take(unpack->raw, given - z->avail_in);
	*made = free_bytes - z->avail_out;
	if (result == Z_STREAM_END)
		return MEMBER_END;
	if (result == Z_MEM_ERROR)
		return NO_MEMORY;
	return result == Z_OK || result == Z_BUF_ERROR ? MORE : bad(unpack, z->msg ? z->msg : zError(result));
}

static void gzip_close(struct tw_unpack *unpack)
{
	inflateEnd(&unpack->gzip);
}

/* The last four bytes: the size of the last member, but for its high bits. Those of a file that is cut off are any: no
 * byte becomes more than 1032 (zlib's documentation). */
static uint64_t gzip_least(int fd)
{
	enum { MOST = 1032 };
	uint8_t size[4];
	struct stat status;
	if (fstat(fd, &status) < 0 || pread(fd, size, sizeof size, status.st_size - (off_t)sizeof size) != sizeof size)
		return 0;
	const uint64_t least = tw_load32(size, false);
	return least / MOST <= (uint64_t)status.st_size ? least : 0;
}

/* ---- zstd. Source: RFC 8878, sections 3.1.1 and 3.1.2. ---- */

/* Bytes of the header of a frame, at least. */
enum { ZSTD_FIRST = 5 };

static bool zstd_magic(const uint8_t *bytes)
{
	uint32_t magic = tw_load32(bytes, false);
	return magic == ZSTD_MAGICNUMBER || (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

static bool zstd_may_begin(uint8_t first)
{
	return first == (ZSTD_MAGICNUMBER & 0xff) || (first & 0xf0) == (ZSTD_MAGIC_SKIPPABLE_START & 0xf0);
}

static bool zstd_open(struct tw_unpack *unpack)
{
	unpack->zstd = ZSTD_createDStream();
	return unpack->zstd &&
	       !ZSTD_isError(ZSTD_DCtx_setParameter(unpack->zstd, ZSTD_d_windowLogMax, TW_ZSTD_WINDOW_LOG));
}

static void zstd_begin(struct tw_unpack *unpack)
{
	unpack->want = ZSTD_FIRST;
}

/* A call that fails does not tell what it had unpacked before. So no call gets more than one block, nor the header of
 * the next (which is counted in what zstd asks for), nor anything while output of the last one waits: then a bad block
 * costs only itself. */
static enum outcome zstd_step(struct tw_unpack *unpack, uint8_t *bytes, size_t room, size_t *made)
{
	enum { BLOCK_HEADER = 3 };
	struct tw_raw_bytes *raw = unpack->raw;
	size_t given = unpack->want > BLOCK_HEADER ? unpack->want - BLOCK_HEADER : unpack->want;
	if (given > raw->left)
		given = raw->left;
	if (unpack->pending)
		given = 0;
	ZSTD_inBuffer in = {.src = raw->bytes, .size = given};
	void *target = bytes;
	ZSTD_outBuffer out = {.dst = target, .size = room};
	size_t want = ZSTD_decompressStream(unpack->zstd, &out, &in);
	if (ZSTD_getErrorCode(want) == ZSTD_error_memory_allocation)
		return NO_MEMORY;
	if (ZSTD_isError(want))
		return bad(unpack, ZSTD_getErrorName(want));
	take(raw, in.pos);
	*made = out.pos;
	unpack->want = want;
	return want ? MORE : MEMBER_END;
}

static void zstd_close(struct tw_unpack *unpack)
{
	ZSTD_freeDStream(unpack->zstd);
}

static uint64_t zstd_least(int fd)
{
	enum { HEADER_MAX = 18 };
	uint8_t header[HEADER_MAX];
	ssize_t size = pread(fd, header, sizeof header, 0);
	unsigned long long least = size < 0 ? 0 : ZSTD_getFrameContentSize(header, (size_t)size);
	return least == ZSTD_CONTENTSIZE_UNKNOWN || least == ZSTD_CONTENTSIZE_ERROR ? 0 : least;
}

static const struct codec codecs[] = {
    {"gzip", gzip_magic, gzip_may_begin, gzip_open, gzip_begin, gzip_step, gzip_close, gzip_least},
    {"zstd", zstd_magic, zstd_may_begin, zstd_open, zstd_begin, zstd_step, zstd_close, zstd_least},
};

/* ---- Members, one after the other. ---- */

static const struct codec *codec_of(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; size >= TW_PACKED_MAGIC && i < sizeof codecs / sizeof *codecs; i++)
		if (codecs[i].magic(bytes))
			return &codecs[i];
	return NULL;
}

bool tw_unpack_known(const uint8_t *bytes, size_t size)
{
	return codec_of(bytes, size) != NULL;
}

bool tw_packed_file(int fd, uint64_t *least)
{
	uint8_t magic[TW_PACKED_MAGIC];
	ssize_t size = pread(fd, magic, sizeof magic, 0);
	const struct codec *codec = size < 0 ? NULL : codec_of(magic, (size_t)size);
	*least = codec ? codec->least(fd) : 0;
	return codec != NULL;
}

struct tw_unpack *tw_unpack_new(struct tw_raw_bytes *raw)
{
	struct tw_unpack *unpack = calloc(1, sizeof *unpack);
	if (!unpack)
		return NULL;
	unpack->codec = codec_of(raw->bytes, raw->left);
	unpack->raw = raw;
	if (unpack->codec->open(unpack))
		return unpack;
	tw_unpack_free(unpack);
	return NULL;
}

/* Between members: zeros are padding (tapes, block devices), anything else that is no member is garbage. */
static void begin_member(struct tw_unpack *unpack)
{
	struct tw_raw_bytes *raw = unpack->raw;
	while (unpack->members && raw->left && raw->bytes[0] == 0)
		take(raw, 1);
	if (!raw->left)
		return;
	if (!unpack->codec->may_begin(raw->bytes[0])) {
		snprintf(unpack->problem, sizeof unpack->problem, "garbage after the %s data is ignored",
		         unpack->codec->name);
		unpack->ended = true;
		return;
	}
	unpack->codec->begin(unpack);
	unpack->inside = true;
}

static void reach_end(struct tw_unpack *unpack)
{
	if (unpack->inside)
		bad(unpack, "the file ends too early");
	unpack->ended = true;
}

/* Returns how many bytes it made, or TW_ERR_MEMORY. */
static int64_t advance(struct tw_unpack *unpack, uint8_t *bytes, size_t room)
{
	if (!unpack->inside) {
		begin_member(unpack);
		return 0;
	}
	size_t made = 0;
	enum outcome outcome = unpack->codec->step(unpack, bytes, room, &made);
	unpack->pending = made == room && outcome == MORE;
	if (outcome == MEMBER_END) {
		unpack->members++;
		unpack->inside = false;
	}
	if (outcome == BAD)
		unpack->ended = true;
	return outcome == NO_MEMORY ? TW_ERR_MEMORY : (int64_t)made;
}

int64_t tw_unpack_read(struct tw_unpack *unpack, void *bytes, size_t size)
{
	uint8_t *p = bytes;
	size_t done = 0;
	while (done < size && !unpack->ended) {
		struct tw_raw_bytes *raw = unpack->raw;
		int64_t got = raw->left || unpack->pending ? 0 : raw->more(raw);
		if (got >= 0 && (raw->left || unpack->pending))
			got = advance(unpack, p + done, size - done);
		else if (got >= 0)
			reach_end(unpack);
		if (got < 0)
			return got;
		done += (size_t)got;
	}
	return (int64_t)done;
}

const char *tw_unpack_problem(const struct tw_unpack *unpack)
{
	return unpack->problem[0] ? unpack->problem : NULL;
}

void tw_unpack_free(struct tw_unpack *unpack)
{
	if (!unpack)
		return;
	unpack->codec->close(unpack);
	free(unpack);
}
