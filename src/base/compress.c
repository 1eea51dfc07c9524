/* compress.c - gzip and zstd, chosen by the ending of a file's name and written piece by piece. */
/* SPDX-License-Identifier: Apache-2.0 */
#define ZLIB_CONST /* input is const */
#include "base/compress.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

enum { ROOM = 1 << 16 };

enum outcome { MORE, DONE, BAD };

struct tw_pack {
	const struct tw_packer *packer;
	z_stream gzip;
	ZSTD_CCtx *zstd;
	char room[ROOM];
};

/* What is left to be compressed. */
struct rest {
	const char *bytes;
	size_t size;
	bool end;
};

struct tw_packer {
	const char *ending;
	bool (*open)(struct tw_pack *pack, enum tw_pack_effort effort);
	/* Fills the room once. DONE: all was taken, and at the end all came out. */
	enum outcome (*step)(struct tw_pack *pack, struct rest *rest, size_t *made);
	void (*close)(struct tw_pack *pack);
};

/* ---- gzip ---- */

/* Level 4 is twice as fast as the usual 6 on the JSON of a trace (gzip -4, -6), for files 6 % larger. */
static bool gzip_open(struct tw_pack *pack, enum tw_pack_effort effort)
{
	enum { LEVEL = 4, LESS = 1, WITH_GZIP_HEADER = 16, MEMORY_LEVEL = 8 };
	int level = effort == TW_PACK_LESS ? LESS : LEVEL;
	return deflateInit2(&pack->gzip, level, Z_DEFLATED, MAX_WBITS + WITH_GZIP_HEADER, MEMORY_LEVEL,
	                    Z_DEFAULT_STRATEGY) == Z_OK;
}

static enum outcome gzip_step(struct tw_pack *pack, struct rest *rest, size_t *made)
{
	z_stream *z = &pack->gzip;
	uInt given = rest->size < UINT_MAX ? (uInt)rest->size : UINT_MAX;
	z->next_in = (const Bytef *)rest->bytes;
	z->avail_in = given;
	z->next_out = (Bytef *)pack->room;
	z->avail_out = ROOM;
	int result = deflate(z, rest->end && given == rest->size ? Z_FINISH : Z_NO_FLUSH);
	rest->bytes += given - z->avail_in;
	rest->size -= given - z->avail_in;
	*made = ROOM - z->avail_out;
	if (result == Z_STREAM_END || (!rest->end && rest->size == 0 && z->avail_out))
		return DONE;
	return result == Z_OK || result == Z_BUF_ERROR ? MORE : BAD;
}

static void gzip_close(struct tw_pack *pack)
{
	deflateEnd(&pack->gzip);
}

/* ---- zstd ---- */

static bool zstd_open(struct tw_pack *pack, enum tw_pack_effort effort)
{
	(void)effort; /* it is fast enough */
	pack->zstd = ZSTD_createCCtx();
	return pack->zstd && !ZSTD_isError(ZSTD_CCtx_setParameter(pack->zstd, ZSTD_c_checksumFlag, 1));
}

static enum outcome zstd_step(struct tw_pack *pack, struct rest *rest, size_t *made)
{
	ZSTD_inBuffer in = {rest->bytes, rest->size, 0};
	ZSTD_outBuffer out = {pack->room, ROOM, 0};
	size_t left = ZSTD_compressStream2(pack->zstd, &out, &in, rest->end ? ZSTD_e_end : ZSTD_e_continue);
	rest->bytes += in.pos;
	rest->size -= in.pos;
	*made = out.pos;
	if (ZSTD_isError(left))
		return BAD;
	return rest->size == 0 && (left == 0 || !rest->end) ? DONE : MORE;
}

static void zstd_close(struct tw_pack *pack)
{
	ZSTD_freeCCtx(pack->zstd);
}

/* ---- Both. ---- */

static const struct tw_packer packers[] = {
    {".gz", gzip_open, gzip_step, gzip_close},
    {".zst", zstd_open, zstd_step, zstd_close},
};

static bool ends_with(const char *text, size_t length, const char *ending)
{
	size_t tail = strlen(ending);
	return length > tail && strncasecmp(text + length - tail, ending, tail) == 0;
}

const struct tw_packer *tw_packer_of(const char *path)
{
	for (size_t i = 0; i < sizeof packers / sizeof *packers; i++)
		if (ends_with(path, strlen(path), packers[i].ending))
			return &packers[i];
	return NULL;
}

bool tw_name_ends_with(const char *path, const char *ending)
{
	const struct tw_packer *packer = tw_packer_of(path);
	return ends_with(path, strlen(path) - (packer ? strlen(packer->ending) : 0), ending);
}

struct tw_pack *tw_pack_new(const struct tw_packer *packer, enum tw_pack_effort effort)
{
	struct tw_pack *pack = calloc(1, sizeof *pack);
	if (!pack)
		return NULL;
	pack->packer = packer;
	if (packer->open(pack, effort))
		return pack;
	tw_pack_free(pack);
	return NULL;
}

bool tw_pack_write(struct tw_pack *pack, const struct tw_pack_sink *sink, const char *bytes, size_t size, bool end)
{
	struct rest rest = {bytes, size, end};
	enum outcome outcome = size || end ? MORE : DONE;
	while (outcome == MORE) {
		size_t made;
		outcome = pack->packer->step(pack, &rest, &made);
		sink->put(sink->context, pack->room, made);
	}
	return outcome == DONE;
}

void tw_pack_free(struct tw_pack *pack)
{
	if (!pack)
		return;
	pack->packer->close(pack);
	free(pack);
}
