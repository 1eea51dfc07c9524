/* dialect.c - which of the profiler's versions may have written a record. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/format/layout.h"

#include <stdio.h>
#include <string.h>

enum {
	D0 = 1 << TW_TRACELOG_D0,
	D1 = 1 << TW_TRACELOG_D1,
	D2 = 1 << TW_TRACELOG_D2,
	D3 = 1 << TW_TRACELOG_D3,
	VS = 1 << TW_TRACELOG_VS,
	ALL = D0 | D1 | D2 | D3 | VS
};

/* Where the kind alone tells; 0: ALL. */
static const uint8_t by_kind[TW_TRACELOG_KINDS] = {
    [TW_TRACELOG_PRF_STM] = D1 | D2 | D3 | VS,
    [TW_TRACELOG_CLS_NAM] = D1 | D2 | D3 | VS,
    [TW_TRACELOG_FUN_INF] = D2 | D3 | VS,
    [TW_TRACELOG_FUN_CMF] = D0 | D1,
    [TW_TRACELOG_FUN_CSF] = D0 | D1,
    [TW_TRACELOG_JIT_CMS] = D2 | D3 | VS,
    [TW_TRACELOG_JIT_CMF] = D2 | D3 | VS,
    [TW_TRACELOG_JIT_CSS] = D2 | D3 | VS,
    [TW_TRACELOG_JIT_CSF] = D2 | D3 | VS,
    [TW_TRACELOG_GCH_GCS] = D2 | D3 | VS,
    [TW_TRACELOG_GCH_GCF] = D2 | D3 | VS,
    [TW_TRACELOG_GCH_ALT] = D2 | D3 | VS,
    [TW_TRACELOG_GCH_GEN] = D3 | VS,
    [TW_TRACELOG_SAM_STR] = D1 | D2 | D3 | VS,
    [TW_TRACELOG_STR_SAM] = D0,
    [TW_TRACELOG_SAM_MEM] = D1 | D2 | D3 | VS,
    [TW_TRACELOG_LIN_SRC] = VS,
    [TW_TRACELOG_FIL_SRC] = VS,
};

/* The dialects that write an ip so. */
static unsigned by_ip(bool known, unsigned style)
{
	if (!known)
		return ALL;
	if (style & TW_TRACELOG_BARE_IP)
		return D0 | D1;
	return style & TW_TRACELOG_PADDED_IP ? D2 | D3 | VS : VS;
}

/* The dialects that write the first ip of a sample's frames so; an ip stands behind the only colon of its item. */
static unsigned by_frames(struct tw_tracelog_text list)
{
	const uint8_t *at = list.bytes, *end = list.bytes + list.size;
	while (at < end && (at = memchr(at, ':', (size_t)(end - at)))) {
		const uint8_t *first = ++at;
		bool bare = end - at < 2 || at[1] != 'x';
		for (at = first += bare ? 0 : 2; at < end && tracelog_hex[*at]; at++)
			;
		bool padded = at - first == TRACELOG_POINTER_64 || at - first == TRACELOG_POINTER_32;
		if (at > first)
			return by_ip(true, (bare ? TW_TRACELOG_BARE_IP : 0u) | (padded ? TW_TRACELOG_PADDED_IP : 0u));
	}
	return ALL;
}

static unsigned by_allocations(const struct tw_tracelog_record *record)
{
	struct tw_tracelog_text list = record->list;
	struct tw_tracelog_item item = {0};
	struct tw_tracelog_fault fault;
	int status;
	do
		status = tw_tracelog_next(record, &list, &item, &fault);
	while (status != 0 && !item.ip_known);
	return by_ip(item.ip_known, item.style);
}

static unsigned by_thread(const struct tw_tracelog_record *record)
{
	static const uint8_t forms[] = {
	    [TW_TRACELOG_THREAD_IID] = D2, [TW_TRACELOG_THREAD_OS] = D3 | VS, [TW_TRACELOG_THREAD_NONE] = D2 | D3 | VS};
	return (unsigned)record->thread_form < sizeof forms ? forms[record->thread_form] : 0;
}

unsigned tracelog_dialects_by(enum tw_tracelog_kind kind, bool ip_known, unsigned ip_style)
{
	unsigned dialects = by_kind[kind] ? by_kind[kind] : (unsigned)ALL;
	return dialects & by_ip(ip_known, ip_style);
}

unsigned tw_tracelog_dialects(const struct tw_tracelog_record *record)
{
	if ((unsigned)record->kind >= TW_TRACELOG_KINDS)
		return 0;
	unsigned dialects = by_kind[record->kind] ? by_kind[record->kind] : (unsigned)ALL;
	switch (record->kind) {
	case TW_TRACELOG_PRF_STM:
		return record->has_zone ? D3 | VS : dialects; /* a log converted from an older dialect has no zone */
	case TW_TRACELOG_CLS_LDF:
		return record->style & TW_TRACELOG_NO_CLASS_IID ? D0 : dialects & ~(unsigned)D0;
	case TW_TRACELOG_FUN_NAM:
		return record->style & TW_TRACELOG_ONE_NAME ? D0 : dialects & ~(unsigned)D0;
	case TW_TRACELOG_SAM_STR:
		return dialects & (record->ip_known ? by_ip(true, record->style) : by_frames(record->list));
	case TW_TRACELOG_SAM_MEM:
		return dialects & by_allocations(record);
	case TW_TRACELOG_JIT_CMS:
	case TW_TRACELOG_JIT_CMF:
	case TW_TRACELOG_JIT_CSS:
	case TW_TRACELOG_JIT_CSF:
	case TW_TRACELOG_GCH_GCS:
	case TW_TRACELOG_GCH_GCF:
		return by_thread(record);
	default:
		return dialects;
	}
}

const char *tracelog_dialects_text(unsigned dialects, char *text)
{
	size_t used = 0;
	if (dialects & D3)
		dialects &= ~(unsigned)VS;
	*text = '\0';
	for (unsigned i = 0; i < TW_TRACELOG_DIALECTS; i++)
		if (dialects >> i & 1)
			used += (size_t)snprintf(text + used, TRACELOG_DIALECTS_TEXT - used, "%s%s", used ? " or " : "",
			                         tw_tracelog_dialect_name(i));
	return text;
}
