/* compress.c - gzip and zstd, chosen by the ending of a file's name and written piece by piece. */
/* SPDX-License-Identifier: Apache-2.0 */
#define ZLIB_CONST /* input is const */
#include "base/bytes/compress.h"

#include "base/bytes/bytes.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

enum { ROOM = 1 << 16 }; /* made for what comes out, at least */

enum outcome { MORE, DONE, BAD };

struct tw_pack {
	const struct tw_packer *packer;
	z_stream gzip;
	ZSTD_CCtx *zstd;
};

/* What is left to be compressed, and the room for what comes out. */
struct compress_step {
	const char *bytes;
	size_t size;
	bool last;
	char *to;
	size_t room;
};

struct tw_packer {
	const char *ending;
	bool in_order;
	bool (*open)(struct tw_pack *pack, enum tw_pack_effort effort);
	/* Compresses as much as there is room for. DONE: all was taken, and what has to come out did. */
	enum outcome (*step)(struct tw_pack *pack, struct compress_step *step);
	void (*close)(struct tw_pack *pack);
};

/* ---- gzip: a member of blocks that end at a byte and refer to nothing before them. ---- */

/* RFC 1952: a member's header, without time; from Unix. */
static const char gzip_head[] = {0x1f, (char)0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 3};
enum { GZIP_TAIL = 8 };

/* Level 4 is twice as fast as the usual 6 on the JSON of a trace (gzip -4, -6), for files 6 % larger. */
static bool gzip_open(struct tw_pack *pack, enum tw_pack_effort effort)
{
	enum { LEVEL = 4, LESS = 1, MEMORY_LEVEL = 8 };
	int level = effort == TW_PACK_LESS ? LESS : LEVEL;
	return deflateInit2(&pack->gzip, level, Z_DEFLATED, -MAX_WBITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
}

static enum outcome gzip_step(struct tw_pack *pack, struct compress_step *step)
{
	z_stream *z = &pack->gzip;
	z->next_in = (const Bytef *)step->bytes;
	z->avail_in = (uInt)step->size;
	z->next_out = (Bytef *)step->to;
	z->avail_out = (uInt)step->room;
	int result = deflate(z, step->last ? Z_FINISH : Z_SYNC_FLUSH);
	step->bytes += step->size - z->avail_in;
	step->size = z->avail_in;
	step->room = z->avail_out;
	if (result == Z_STREAM_END || (!step->last && step->size == 0 && step->room))
		return deflateReset(z) == Z_OK ? DONE : BAD;
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

static enum outcome zstd_step(struct tw_pack *pack, struct compress_step *step)
{
	ZSTD_inBuffer in = {step->bytes, step->size, 0};
	ZSTD_outBuffer out = {step->to, step->room, 0};
	size_t left = ZSTD_compressStream2(pack->zstd, &out, &in, step->last ? ZSTD_e_end : ZSTD_e_continue);
	step->bytes += in.pos;
	step->size -= in.pos;
	step->room -= out.pos;
	if (ZSTD_isError(left))
		return BAD;
	return step->size == 0 && (left == 0 || !step->last) ? DONE : MORE;
}

static void zstd_close(struct tw_pack *pack)
{
	ZSTD_freeCCtx(pack->zstd);
}

/* ---- Both. ---- */

static const struct tw_packer packers[] = {
    {".gz", false, gzip_open, gzip_step, gzip_close},
    {".zst", true, zstd_open, zstd_step, zstd_close},
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

bool tw_pack_block(struct tw_pack *pack, const char *bytes, size_t size, bool last, struct tw_packed *packed)
{
	struct tw_text *text = &packed->text;
	struct compress_step step = {.bytes = bytes, .size = size, .last = last};
	enum outcome outcome = MORE;
	assert(size <= UINT_MAX);
	text->length = 0;
	while (outcome == MORE) {
		if (!tw_extend(&text->bytes, &text->room, text->length + ROOM, 1))
			return false;
		step.to = text->bytes + text->length;
		step.room = text->room - text->length;
		outcome = pack->packer->step(pack, &step);
		text->length = text->room - step.room;
	}
	packed->size = size;
	packed->sum = pack->packer->in_order ? 0 : (uint32_t)crc32(0, (const Bytef *)bytes, (uInt)size);
	return outcome == DONE;
}

void tw_pack_free(struct tw_pack *pack)
{
	if (!pack)
		return;
	pack->packer->close(pack);
	free(pack);
}

/* ---- What stands around the blocks. ---- */

bool tw_packer_goes_in_order(const struct tw_packer *packer)
{
	return packer->in_order;
}

void tw_pack_put_head(const struct tw_packer *packer, const struct tw_pack_sink *sink)
{
	if (!packer->in_order)
		sink->put(sink->context, gzip_head, sizeof gzip_head);
}

void tw_pack_put(const struct tw_packed *packed, struct tw_packed *total, const struct tw_pack_sink *sink)
{
	total->sum = (uint32_t)crc32_combine(total->sum, packed->sum, (z_off_t)packed->size);
	total->size += packed->size;
	sink->put(sink->context, packed->text.bytes, packed->text.length);
}

void tw_pack_put_tail(const struct tw_packer *packer, const struct tw_packed *total, const struct tw_pack_sink *sink)
{
	uint8_t tail[GZIP_TAIL];
	if (packer->in_order)
		return;
	tw_store32(tail, total->sum, false);
	tw_store32(tail + 4, (uint32_t)total->size, false);
	sink->put(sink->context, (const char *)tail, sizeof tail);
}
