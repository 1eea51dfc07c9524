/* layout.c - which fields a line of a kind has, in order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/format/layout.h"

/* Fields: of a record, of a record behind a colon, of an item of a list. */
#define FIELD(name, form, member)                                                                                      \
	{                                                                                                              \
		name, TRACELOG_##form, false, offsetof(struct tw_tracelog_record, member)                              \
	}
#define COLON(name, form, member)                                                                                      \
	{                                                                                                              \
		name, TRACELOG_##form, true, offsetof(struct tw_tracelog_record, member)                               \
	}
#define FIRST(name, form, member)                                                                                      \
	{                                                                                                              \
		name, TRACELOG_##form, false, offsetof(struct tw_tracelog_item, member)                                \
	}
#define NEXT(name, form, member)                                                                                       \
	{                                                                                                              \
		name, TRACELOG_##form, true, offsetof(struct tw_tracelog_item, member)                                 \
	}

#define TIMESTAMP FIELD("timestamp", MS, ms)
#define THREAD FIELD("thread_iid", IID, thread)
#define ANY_THREAD FIELD("thread_iid", THREAD, thread)
#define FUNCTION FIELD("function_id", POINTER, id)
#define STATUS FIELD("status", ID, status)
#define FUNCTION_IID FIELD("function_iid", IID, iid)
#define CLASS FIELD("class_id", POINTER, class_id)
#define MODULE FIELD("module_id", POINTER, module)
#define ASSEMBLY FIELD("assembly_id", POINTER, assembly)
#define FUNCTION_TOKEN FIELD("func_token", ID, token)

/* Sources: the document; cls ldf, fun cmf, fun csf, fun nam, gch gen, str sam, lin src and fil src: what the profiler's
 * versions and the adaptor of the Visual Studio plug-in write (doc/formats/tracelog.md). */
const struct tracelog_layout tracelog_layouts[TW_TRACELOG_KINDS] = {
    [TW_TRACELOG_PRF_STM] = {{FIELD("start_time", DATE, year)}},
    [TW_TRACELOG_PRF_CFG] = {{FIELD("name", WORD, name), FIELD("value", REST, value)}},
    [TW_TRACELOG_PRF_TPS] = {{TIMESTAMP}},
    [TW_TRACELOG_PRF_TRS] = {{TIMESTAMP}},
    [TW_TRACELOG_PRC_CPU] = {{TIMESTAMP, FIELD("usage", US, us)}},
    [TW_TRACELOG_THR_CRT] = {{FIELD("thread_id", POINTER, id), THREAD}},
    [TW_TRACELOG_THR_AOS] = {{THREAD, FIELD("os_thread_id", DECIMAL32, os_thread)}},
    [TW_TRACELOG_THR_DST] = {{THREAD}},
    [TW_TRACELOG_THR_CPU] = {{THREAD, TIMESTAMP, FIELD("usage", US, us)}},
    [TW_TRACELOG_MOD_LDF] = {{FIELD("module_id", POINTER, id), FIELD("base_load_address", POINTER, base), ASSEMBLY,
                              STATUS, FIELD("module_name", QUOTED, name)}},
    [TW_TRACELOG_MOD_ATA] = {{FIELD("module_id", POINTER, id), ASSEMBLY}},
    [TW_TRACELOG_ASM_LDF] = {{FIELD("assembly_id", POINTER, id), FIELD("app_domain_id", POINTER, domain), MODULE,
                              STATUS, FIELD("assembly_name", QUOTED, name)}},
    [TW_TRACELOG_APD_CRF] = {{FIELD("app_domain_id", POINTER, id), FIELD("process_id", POINTER, process), STATUS,
                              FIELD("app_domain_name", QUOTED, name)}},
    [TW_TRACELOG_CLS_LDF] = {{FIELD("class_id", POINTER, id), FIELD("class_iid", CLASS_IID, iid), MODULE,
                              FIELD("class_token", ID, token), STATUS}},
    [TW_TRACELOG_CLS_NAM] = {{FIELD("class_iid", IID, iid), FIELD("class_name", QUOTED, name)}},
    [TW_TRACELOG_FUN_INF] = {{FUNCTION_IID, FUNCTION, CLASS, MODULE, FUNCTION_TOKEN, FIELD("code", LIST, list)}},
    [TW_TRACELOG_FUN_CMF] = {{FUNCTION, FUNCTION_IID, CLASS, MODULE, FUNCTION_TOKEN, STATUS,
                              FIELD("code", LIST, list)}},
    [TW_TRACELOG_FUN_CSF] = {{FUNCTION, FUNCTION_IID, CLASS, MODULE, FUNCTION_TOKEN, FIELD("code", LIST, list)}},
    [TW_TRACELOG_FUN_NAM] = {{FUNCTION_IID, FIELD("full_name", NAMES, name)}},
    [TW_TRACELOG_JIT_CMS] = {{ANY_THREAD, TIMESTAMP, FUNCTION}},
    [TW_TRACELOG_JIT_CMF] = {{ANY_THREAD, TIMESTAMP, FUNCTION, STATUS}},
    [TW_TRACELOG_JIT_CSS] = {{ANY_THREAD, TIMESTAMP, FUNCTION}},
    [TW_TRACELOG_JIT_CSF] = {{ANY_THREAD, TIMESTAMP, FUNCTION}},
    [TW_TRACELOG_GCH_GCS] = {{ANY_THREAD, TIMESTAMP, FIELD("reason", REASON, reason),
                              FIELD("gen_collect", FLAGS, generations)}},
    [TW_TRACELOG_GCH_GCF] = {{ANY_THREAD, TIMESTAMP}},
    [TW_TRACELOG_GCH_ALT] = {{TIMESTAMP, FIELD("items", LIST, list)}},
    [TW_TRACELOG_GCH_GEN] = {{TIMESTAMP, FIELD("generations", LIST, list)}},
    [TW_TRACELOG_SAM_STR] = {{THREAD, TIMESTAMP, FIELD("count", COUNT, count),
                              FIELD("match_prefix_size", DECIMAL32, match), COLON("stack_size", DECIMAL32, depth),
                              COLON("ip", IP, ip), FIELD("frames", LIST, list)}},
    [TW_TRACELOG_STR_SAM] = {{THREAD, TIMESTAMP, FIELD("count", COUNT, count),
                              FIELD("match_prefix_size", DECIMAL32, match), COLON("stack_size", DECIMAL32, depth),
                              COLON("ip", IP, ip), FIELD("frames", LIST, list)}},
    [TW_TRACELOG_SAM_MEM] = {{THREAD, TIMESTAMP, FIELD("items", LIST, list)}},
    [TW_TRACELOG_LIN_SRC] = {{FIELD("line_id", ID, line), FIELD("file_id", ID, file), FUNCTION_IID,
                              FIELD("start_line", DECIMAL32, start_line),
                              FIELD("start_column", DECIMAL32, start_column), FIELD("end_line", DECIMAL32, end_line),
                              FIELD("end_column", DECIMAL32, end_column)}},
    [TW_TRACELOG_FIL_SRC] = {{FIELD("file_id", ID, file), FIELD("path", QUOTED, name)}},
};

const struct tracelog_layout tracelog_items[TW_TRACELOG_HEAP + 1] = {
    [TW_TRACELOG_CODE] = {{FIRST("start_addr", POINTER, start), NEXT("size", HEX, bytes)}},
    [TW_TRACELOG_MAP] = {{FIRST("il_offset", IL, il), NEXT("native_start", HEX, start), NEXT("native_end", HEX, end)}},
    [TW_TRACELOG_FRAME] = {{FIRST("function_iid", SHORT_IID, iid), NEXT("ip", IP, ip)}},
    [TW_TRACELOG_CLASS] = {{FIRST("class_iid", SHORT_IID, iid), NEXT("alloc_count", DECIMAL64, count),
                            NEXT("mem_size", DECIMAL64, bytes), NEXT("ip", IP, ip)}},
    [TW_TRACELOG_HEAP] = {{FIRST("name", WORD, name), NEXT("allocated", DECIMAL64, bytes),
                           NEXT("reserved", DECIMAL64, reserved)}},
};

/* ---- Digits. ---- */

const uint8_t tracelog_hex[256] = {
    ['0'] = TRACELOG_FIGURE | 0, ['1'] = TRACELOG_FIGURE | 1, ['2'] = TRACELOG_FIGURE | 2, ['3'] = TRACELOG_FIGURE | 3,
    ['4'] = TRACELOG_FIGURE | 4, ['5'] = TRACELOG_FIGURE | 5, ['6'] = TRACELOG_FIGURE | 6, ['7'] = TRACELOG_FIGURE | 7,
    ['8'] = TRACELOG_FIGURE | 8, ['9'] = TRACELOG_FIGURE | 9, ['A'] = TRACELOG_UPPER | 10, ['B'] = TRACELOG_UPPER | 11,
    ['C'] = TRACELOG_UPPER | 12, ['D'] = TRACELOG_UPPER | 13, ['E'] = TRACELOG_UPPER | 14, ['F'] = TRACELOG_UPPER | 15,
    ['a'] = TRACELOG_LOWER | 10, ['b'] = TRACELOG_LOWER | 11, ['c'] = TRACELOG_LOWER | 12, ['d'] = TRACELOG_LOWER | 13,
    ['e'] = TRACELOG_LOWER | 14, ['f'] = TRACELOG_LOWER | 15,
};

/* ---- Names. ---- */

const char *const tracelog_words[TW_TRACELOG_KINDS] = {
#define X(name, words, text, fields) [name] = words,
    TW_TRACELOG_KIND_LIST(X)
#undef X
};

static const char *const kind_names[TW_TRACELOG_KINDS] = {[TW_TRACELOG_UNKNOWN] = "unknown",
#define X(name, words, text, fields) [name] = text,
                                                          TW_TRACELOG_KIND_LIST(X)
#undef X
};

static const char *const dialect_names[TW_TRACELOG_DIALECTS] = {
#define X(name, text) [name] = text,
    TW_TRACELOG_DIALECT_LIST(X)
#undef X
};

const char *tw_tracelog_kind_name(unsigned kind)
{
	return kind < TW_TRACELOG_KINDS ? kind_names[kind] : NULL;
}

const char *tw_tracelog_dialect_name(unsigned dialect)
{
	return dialect < TW_TRACELOG_DIALECTS ? dialect_names[dialect] : NULL;
}

bool tracelog_find_gap(struct tw_tracelog_text text, size_t *end, size_t *begin)
{
	for (size_t i = text.size; i-- > 2;) {
		if (text.bytes[i] != '"' || !tracelog_blank(text.bytes[i - 1]))
			continue;
		size_t first = i - 1;
		while (first > 0 && tracelog_blank(text.bytes[first]))
			first--;
		if (text.bytes[first] != '"')
			continue;
		*end = first;
		*begin = i + 1;
		return true;
	}
	return false;
}

bool tracelog_is_cut(struct tw_tracelog_text text)
{
	size_t size = text.size;
	while (size && tracelog_blank(text.bytes[size - 1]))
		size--;
	return size && size < text.size && text.bytes[size - 1] == '"';
}

bool tracelog_looks_like_kind(struct tw_tracelog_text text)
{
	if (text.size < TRACELOG_WORDS || text.bytes[3] != ' ' ||
	    (text.size > TRACELOG_WORDS && text.bytes[TRACELOG_WORDS] != ' '))
		return false;
	for (size_t i = 0; i < TRACELOG_WORDS; i++) {
		if (i != 3 && (text.bytes[i] < 'a' || text.bytes[i] > 'z'))
			return false;
	}
	return true;
}
