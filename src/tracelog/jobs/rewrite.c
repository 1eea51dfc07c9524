/* rewrite.c - a log written again line by line: repaired, in another dialect, or a part of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/map.h"
#include "base/memory/memory.h"
#include "tracelog/format/layout.h"
#include "tracelog/jobs/cut.h"
#include "tracelog/jobs/has_lines.h"
#include "tracelog/jobs/inject_lines.h"
#include "tracelog/lines/cursor.h"
#include "tracelog/tracelog.h"

#include <stdlib.h>
#include <string.h>

enum {
	AS_IT_IS = TW_TRACELOG_DIALECTS, /* no other dialect is asked for */
	MAPS_SHARE = 4,                  /* of the memory limit, for tables of threads and classes */
	LINE_ROOM = 512                  /* beside three times its size: trackway/tracelog.h */
};

/* Lines of unknown kinds before the first record: all that the log would be known by must be behind them in the
 * bytes that are looked at for that. */
struct lead {
	uint8_t bytes[TW_PROBE_SIZE];
	size_t used;
	uint64_t lines, changed;
};

struct log_rewrite {
	struct tracelog_cursor cursor;
	struct tw_output *out;
	struct tw_rewrite_result *result;
	struct tracelog_cut *cut;              /* NULL: all lines are wanted */
	struct tracelog_lines_injector *lines; /* to vs, where PDBs tell them; otherwise NULL */
	unsigned dialect;
	bool repair;
	bool narrow;                        /* the last pointer had 32 bits */
	bool lines_for_ips;                 /* lin src or fil src came: an ip is the number of a line */
	bool approximated;                  /* the record that is being written */
	bool begun;                         /* a record of a known kind was written, or the format is told */
	bool failed;                        /* no memory */
	uint64_t searched;                  /* the function of the last jit css */
	struct tw_map system_of, thread_of; /* iid of a thread to the system's number, and back */
	struct tw_map classes;              /* pointers of classes that had no iid, to one */
	struct lead lead;
	struct { /* of the line that is written */
		uint8_t *list, *line;
		size_t list_room, line_room;
	} room;
};

/* ---- Lists. ---- */

/* An ip of vs is the number of a line, which no other dialect has; and where no lines are, vs has no use for an ip. */
static bool drops_ips(const struct log_rewrite *r)
{
	return r->dialect != AS_IT_IS && r->lines_for_ips != (r->dialect == TW_TRACELOG_VS);
}

/* What is kept of an item: all, or what is before its ip. */
static size_t kept_size(const struct log_rewrite *r, const uint8_t *item, size_t size,
                        const struct tw_tracelog_item *meaning)
{
	if (!drops_ips(r) || !meaning->has_ip)
		return size;
	const uint8_t *colon = memrchr(item, ':', size);
	return (size_t)(colon - item);
}

/* Puts the good items of the record's list together. */
static void copy_list(struct log_rewrite *r)
{
	struct tw_tracelog_record *record = &r->cursor.record;
	struct tw_tracelog_text rest = record->list;
	struct tw_tracelog_item item;
	size_t used = 0;
	if (!tw_grow(&r->room.list, &r->room.list_room, record->list.size + 1, 1)) {
		r->failed = true;
		return;
	}
	while (tracelog_cursor_item(&r->cursor, &rest, &item)) {
		const uint8_t *start = rest.bytes;
		while (start > record->list.bytes && !tracelog_blank(start[-1]))
			start--;
		size_t size = (size_t)(rest.bytes - start), kept = kept_size(r, start, size, &item);
		r->approximated |= kept < size;
		r->room.list[used++] = ' ';
		memcpy(r->room.list + used, start, kept);
		used += kept;
	}
	record->list = (struct tw_tracelog_text){r->room.list, used};
}

/* ---- What is known. ---- */

static size_t map_entries(const struct log_rewrite *r)
{
	return r->system_of.count + r->thread_of.count + r->classes.count;
}

/* Puts or replaces a value, as far as the memory limit allows. */
static void keep(struct log_rewrite *r, struct tw_map *map, uint64_t key, uint32_t value)
{
	size_t limit = tw_memory_limit(r->cursor.reader) / MAPS_SHARE / sizeof(struct tw_map_slot) / 2;
	uint32_t *stored = tw_map_stored(map, key);
	if (value == UINT32_MAX)
		return;
	if (stored)
		*stored = value + 1;
	else if (map_entries(r) < limit)
		r->failed |= !tw_map_add(map, key, value);
}

static void learn(struct log_rewrite *r, const struct tw_tracelog_record *record)
{
	switch (record->kind) {
	case TW_TRACELOG_THR_CRT:
	case TW_TRACELOG_MOD_LDF:
		r->narrow = record->style & TW_TRACELOG_POINTERS_32;
		return;
	case TW_TRACELOG_THR_AOS:
		if (record->thread == TW_TRACELOG_IID_NONE)
			return;
		keep(r, &r->system_of, record->thread, record->os_thread);
		keep(r, &r->thread_of, record->os_thread, record->thread);
		return;
	case TW_TRACELOG_JIT_CSS:
		r->searched = record->id;
		return;
	case TW_TRACELOG_JIT_CMS: /* the search found nothing */
		r->searched = r->searched == record->id ? 0 : r->searched;
		return;
	case TW_TRACELOG_LIN_SRC:
	case TW_TRACELOG_FIL_SRC:
		r->lines_for_ips = true;
		return;
	default:
		return;
	}
}

/* ---- From dialect to dialect. ---- */

static void adapt_start(struct log_rewrite *r, struct tw_tracelog_record *record)
{
	bool wanted = r->dialect >= TW_TRACELOG_D3;
	r->approximated |= record->has_zone != wanted;
	record->has_zone &= wanted;
}

/* A class that has no iid gets the next one: in d0 nothing else refers to classes by it. */
static void adapt_class(struct log_rewrite *r, struct tw_tracelog_record *record)
{
	bool without = record->style & TW_TRACELOG_NO_CLASS_IID, wanted = r->dialect != TW_TRACELOG_D0;
	r->approximated |= without == wanted;
	if (without && wanted && !tw_map_find(&r->classes, record->id, &record->iid)) {
		record->iid = (uint32_t)r->classes.count;
		keep(r, &r->classes, record->id, record->iid);
	}
	record->style &= ~(unsigned)TW_TRACELOG_NO_CLASS_IID;
	record->style |= wanted ? 0 : TW_TRACELOG_NO_CLASS_IID;
}

/* The older dialects tell how a function came to be; its code came from a cached search where that was the last
 * begun. */
static void adapt_function(struct log_rewrite *r, struct tw_tracelog_record *record)
{
	bool old = r->dialect <= TW_TRACELOG_D1;
	if (old && record->kind == TW_TRACELOG_FUN_INF)
		record->kind = record->id == r->searched ? TW_TRACELOG_FUN_CSF : TW_TRACELOG_FUN_CMF;
	if (old)
		return;
	r->approximated |= record->status != 0;
	record->kind = TW_TRACELOG_FUN_INF;
}

static void adapt_name(struct log_rewrite *r, struct tw_tracelog_record *record)
{
	bool one = r->dialect == TW_TRACELOG_D0;
	r->approximated |= one && (record->return_type.size || record->signature.size);
	record->style &= ~(unsigned)TW_TRACELOG_ONE_NAME;
	record->style |= one ? TW_TRACELOG_ONE_NAME : 0;
}

static void adapt_thread(struct log_rewrite *r, struct tw_tracelog_record *record)
{
	enum tw_tracelog_thread_form wanted =
	    r->dialect == TW_TRACELOG_D2 ? TW_TRACELOG_THREAD_IID : TW_TRACELOG_THREAD_OS;
	const struct tw_map *map = wanted == TW_TRACELOG_THREAD_IID ? &r->thread_of : &r->system_of;
	if (record->thread_form == wanted || record->thread_form == TW_TRACELOG_THREAD_NONE)
		return;
	bool known = tw_map_find(map, record->thread, &record->thread);
	record->thread_form = known ? wanted : TW_TRACELOG_THREAD_NONE;
	r->approximated |= !known;
}

static bool fits(const struct log_rewrite *r, enum tw_tracelog_kind kind, bool ip_known, unsigned style)
{
	return tracelog_dialects_by(kind, ip_known, style) >> r->dialect & 1 &&
	       !(style & (TW_TRACELOG_UPPER | TW_TRACELOG_PADDED_IID));
}

/* Whether numbers are written already as the dialect may write them: the bare ips of d0 and d1 have leading zeros or
 * none. */
static bool is_styled(const struct log_rewrite *r, const struct tw_tracelog_record *record)
{
	struct tw_tracelog_text list = record->list;
	struct tw_tracelog_item item;
	struct tw_tracelog_fault fault;
	bool styled = fits(r, record->kind, record->ip_known, record->style);
	while (styled && tw_tracelog_next(record, &list, &item, &fault) > 0)
		styled = fits(r, record->kind, item.ip_known, item.style);
	return styled;
}

static void adapt_sample(struct log_rewrite *r, struct tw_tracelog_record *record)
{
	bool old = r->dialect == TW_TRACELOG_D0, bare = r->dialect <= TW_TRACELOG_D1;
	bool narrow =
	    record->ip_known ? record->style & TW_TRACELOG_POINTERS_32 && record->ip <= UINT32_MAX : r->narrow;
	if (record->kind != TW_TRACELOG_SAM_MEM)
		record->kind = old ? TW_TRACELOG_STR_SAM : TW_TRACELOG_SAM_STR;
	if (!record->has_count && !old && record->kind == TW_TRACELOG_SAM_STR) {
		record->has_count = true;
		r->approximated = true;
	}
	if (drops_ips(r) && record->has_ip) {
		record->has_ip = record->ip_known = false;
		r->approximated = true;
	}
	if (r->dialect == TW_TRACELOG_VS || is_styled(r, record))
		return;
	record->style = TW_TRACELOG_RESTYLE | TW_TRACELOG_PADDED_IP | (record->style & TW_TRACELOG_NO_IID) |
	                (bare ? TW_TRACELOG_BARE_IP : 0u) | (narrow ? TW_TRACELOG_POINTERS_32 : 0u);
}

enum {
	D0 = 1 << TW_TRACELOG_D0,
	D1 = 1 << TW_TRACELOG_D1,
	D2 = 1 << TW_TRACELOG_D2,
	VS = 1 << TW_TRACELOG_VS,
	D3 = 1 << TW_TRACELOG_D3 | VS
};

/* The dialects that can hold a kind, 0: all of them; and what is changed for that. */
static const struct {
	unsigned dialects;
	void (*adapt)(struct log_rewrite *r, struct tw_tracelog_record *record);
} adaptions[TW_TRACELOG_KINDS] = {
    [TW_TRACELOG_PRF_STM] = {D1 | D2 | D3, adapt_start},
    [TW_TRACELOG_CLS_LDF] = {0, adapt_class},
    [TW_TRACELOG_CLS_NAM] = {D1 | D2 | D3, NULL},
    [TW_TRACELOG_FUN_INF] = {0, adapt_function},
    [TW_TRACELOG_FUN_CMF] = {0, adapt_function},
    [TW_TRACELOG_FUN_CSF] = {0, adapt_function},
    [TW_TRACELOG_FUN_NAM] = {0, adapt_name},
    [TW_TRACELOG_JIT_CMS] = {D2 | D3, adapt_thread},
    [TW_TRACELOG_JIT_CMF] = {D2 | D3, adapt_thread},
    [TW_TRACELOG_JIT_CSS] = {D2 | D3, adapt_thread},
    [TW_TRACELOG_JIT_CSF] = {D2 | D3, adapt_thread},
    [TW_TRACELOG_GCH_GCS] = {D2 | D3, adapt_thread},
    [TW_TRACELOG_GCH_GCF] = {D2 | D3, adapt_thread},
    [TW_TRACELOG_GCH_ALT] = {D2 | D3, NULL},
    [TW_TRACELOG_GCH_GEN] = {D3, NULL},
    [TW_TRACELOG_SAM_STR] = {0, adapt_sample},
    [TW_TRACELOG_STR_SAM] = {0, adapt_sample},
    [TW_TRACELOG_SAM_MEM] = {D1 | D2 | D3, adapt_sample},
    [TW_TRACELOG_LIN_SRC] = {VS, NULL},
    [TW_TRACELOG_FIL_SRC] = {VS, NULL},
};

/* False where the dialect has no place for the record. */
static bool adapt(struct log_rewrite *r, struct tw_tracelog_record *record)
{
	unsigned dialects = adaptions[record->kind].dialects;
	if (r->dialect == AS_IT_IS)
		return true;
	if (r->dialect != TW_TRACELOG_VS)
		record->style &= ~(unsigned)TW_TRACELOG_UPPER;
	if (dialects && !(dialects >> r->dialect & 1))
		return false;
	if (adaptions[record->kind].adapt)
		adaptions[record->kind].adapt(r, record);
	return true;
}

/* ---- Lines. ---- */

/* Keeps a line until a record follows; false where it is too long for that. */
static bool hold(struct log_rewrite *r, size_t size, bool changed)
{
	struct lead *lead = &r->lead;
	if (size > sizeof lead->bytes - lead->used) {
		r->result->lost_bytes += r->cursor.line.size;
		return false;
	}
	memcpy(lead->bytes + lead->used, r->room.line, size);
	lead->used += size;
	lead->lines++;
	lead->changed += changed;
	return true;
}

/* Writes the lines that were held, unless the record behind them, of `size` bytes, would then be too far from the
 * beginning to be found. */
static void begin(struct log_rewrite *r, size_t size)
{
	struct lead *lead = &r->lead;
	if (size <= sizeof lead->bytes - lead->used) {
		tw_put(r->out, lead->bytes, lead->used);
		r->result->records_changed += lead->changed;
	} else {
		r->result->records_out -= lead->lines;
		r->result->records_dropped += lead->lines;
		r->result->lost_bytes += lead->used;
	}
	r->begun = true;
}

static bool put(struct log_rewrite *r, const struct tw_tracelog_record *record)
{
	const struct tw_text_line *line = &r->cursor.line;
	size_t most = line->size + record->list.size + record->name.size;
	if (!tw_grow(&r->room.line, &r->room.line_room, 3 * most + LINE_ROOM, 1)) {
		r->failed = true;
		return false;
	}
	int64_t size = tw_tracelog_encode(record, r->room.line, r->room.line_room);
	if (size < 0)
		return false;
	bool same = (size_t)size == line->size && memcmp(r->room.line, line->bytes, line->size) == 0;
	bool changed = r->approximated || (r->repair && !same);
	if (!r->begun && record->kind == TW_TRACELOG_UNKNOWN)
		return hold(r, (size_t)size, changed);
	if (!r->begun)
		begin(r, (size_t)size);
	r->result->records_changed += changed;
	tw_put(r->out, r->room.line, (size_t)size);
	return true;
}

/* Writes the lines of the source that go before a record, or that are left at the end. */
static void put_lines(struct log_rewrite *r, bool at_end)
{
	struct tw_tracelog_record made;
	while (r->lines && !r->failed && tracelog_inject_lines_next(r->lines, at_end, &made)) {
		r->approximated = false;
		r->result->records_out += put(r, &made);
	}
}

/* Instructions become the numbers of their lines, which are written before the record. */
static void take_lines(struct log_rewrite *r, struct tw_tracelog_record *record)
{
	bool any = tracelog_inject_lines_take(r->lines, record);
	bool approximated = r->approximated || any;
	if (tracelog_inject_lines_failed(r->lines))
		r->failed = true;
	else if (record->kind == TW_TRACELOG_SAM_STR || record->kind == TW_TRACELOG_STR_SAM ||
	         record->kind == TW_TRACELOG_SAM_MEM)
		put_lines(r, false);
	r->approximated = approximated;
}

static void write(struct log_rewrite *r, struct tw_tracelog_record *record, bool readable)
{
	if (readable && r->lines)
		take_lines(r, record);
	bool kept = !readable || adapt(r, record);
	if (kept && !r->failed && put(r, record))
		r->result->records_out++;
	else
		r->result->records_dropped++;
}

/* Writes what stays of a line of which a part may not be wanted. */
static void write_part(struct log_rewrite *r)
{
	struct tw_tracelog_record made;
	bool approximated = r->approximated, cut_off;
	tracelog_cut_take(r->cut, &r->cursor.record, r->cursor.line.offset);
	while (tracelog_cut_next(r->cut, &made, &cut_off)) {
		r->approximated = approximated || cut_off;
		write(r, &made, true);
	}
	r->failed |= tracelog_cut_failed(r->cut);
}

/* Whether a line may go on: what cannot be read may not, but for those that are of a kind to come; one that is cut
 * off may lack digits. Of a kind to come it is not known whether it is in a part. */
static bool is_kept(const struct log_rewrite *r)
{
	const struct tracelog_cursor *cursor = &r->cursor;
	if (r->repair && cursor->record.odd & TW_TRACELOG_NO_END)
		return false;
	bool to_come = cursor->record.kind == TW_TRACELOG_UNKNOWN && cursor->of_unknown_kind;
	return cursor->readable || (to_come && !r->cut);
}

static void take_line(struct log_rewrite *r)
{
	struct tw_tracelog_record *record = &r->cursor.record;
	r->approximated = false;
	r->result->records_in++;
	if (!is_kept(r)) {
		r->result->records_dropped++;
		r->result->lost_bytes += r->cursor.line.size;
		return;
	}
	if (r->cursor.readable) {
		r->approximated = record->odd & TW_TRACELOG_SURPLUS;
		learn(r, record);
		copy_list(r);
	}
	if (r->cut && !r->failed)
		write_part(r);
	else
		write(r, record, r->cursor.readable);
}

static void rewrite_free(struct log_rewrite *r)
{
	tracelog_cursor_free(&r->cursor);
	tracelog_cut_free(r->cut);
	tracelog_inject_lines_free(r->lines);
	tw_map_free(&r->system_of);
	tw_map_free(&r->thread_of);
	tw_map_free(&r->classes);
	free(r->room.list);
	free(r->room.line);
}

static int rewrite(struct log_rewrite *r, struct tw_reader *reader)
{
	int status;
	tracelog_cursor_init(&r->cursor, reader);
	r->begun = reader->options.format != NULL;
	while ((status = tracelog_cursor_next(&r->cursor)) > 0 && !r->out->error && !r->failed)
		take_line(r);
	if (!r->begun)
		begin(r, SIZE_MAX);
	put_lines(r, true);
	if (status == 0)
		tracelog_cursor_end(&r->cursor);
	if (r->failed)
		status = tw_fail_memory(reader);
	rewrite_free(r);
	return status < 0 ? status : 0;
}

int tracelog_repair(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result)
{
	struct log_rewrite r = {.out = out, .result = result, .dialect = AS_IT_IS, .repair = true};
	return rewrite(&r, reader);
}

/* With filters only what passes them. */
static int transcode(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result,
                     unsigned dialect)
{
	struct log_rewrite r = {.out = out, .result = result, .dialect = dialect};
	bool filtered = reader->filtering.filter || reader->options.thread_count, own = false;
	int status = filtered ? tracelog_cut_new(&r.cut, reader) : 0;
	result->nothing_passed = filtered && status == 0 && tracelog_cut_is_empty(r.cut);
	int found = status != 0 || dialect == AS_IT_IS ? 0
	            : dialect == TW_TRACELOG_VS        ? tracelog_inject_lines_new(&r.lines, reader, &own)
	                                               : tracelog_has_lines(reader, &own);
	r.lines_for_ips = r.lines || own;
	if (status == 0 && found == 0)
		return rewrite(&r, reader);
	tracelog_inject_lines_free(r.lines);
	tracelog_cut_free(r.cut);
	return found < 0 ? found
	                 : tw_fail(reader, status, "%s: %s", tw_input_name(reader->input), tw_status_text(status));
}

int tracelog_transcode(struct tw_reader *reader, struct tw_output *out, const struct tw_write_options *options,
                       struct tw_rewrite_result *result)
{
	static const char *const names[] = {"d0", "d1", "d2", "d3", "vs"};
	unsigned dialect = 0;
	if (options->version)
		return tw_fail(reader, TW_ERR_VALUE, "tracelog has no versions, but dialects");
	if (!options->dialect)
		return transcode(reader, out, result, AS_IT_IS);
	while (dialect < sizeof names / sizeof *names && strcmp(names[dialect], options->dialect) != 0)
		dialect++;
	if (dialect == sizeof names / sizeof *names)
		return tw_fail(reader, TW_ERR_VALUE, "tracelog is not written in a dialect %s", options->dialect);
	return transcode(reader, out, result, dialect);
}

const struct tw_target tw_target_tracelog = {
    .name = "tracelog",
    .extensions = (const char *const[]){".tracelog", ".log", NULL},
    .order = TW_ORDER_FILE,
};
