/* tracelog.h - TraceLog, the text log of Tizen's CoreProfiler, line by line.
 *
 * Sources: "Format description of trace data file" of 2018-04-10 (called "the document" here) and what the profiler's
 * versions of 2017 to 2019 and their readers do beyond it. doc/formats/tracelog.md, in the sources, tells the whole
 * format. Nothing here allocates, does I/O or keeps globals. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_TRACELOG_H
#define TRACKWAY_TRACELOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of record: the first two words of a line. What follows them is, by kind (`ptr`: 0x and 8 or 16 digits;
 * `iid`, `tok`, `hr`: 0x and 8 digits; `ms`, `us`, `n`: decimal; "text" in quotes; `[]`: not in every dialect; the last
 * may be a list). Any iid may be "?", which is one that the profiler does not know:
 *
 * X(name, words, text, what follows) */
#define TW_TRACELOG_KIND_LIST(X)                                                                                       \
	X(TW_TRACELOG_PRF_STM, "prf stm", "prf-stm", "YYYY-MM-DD hh:mm:ss.mmm [zone]")                                 \
	X(TW_TRACELOG_PRF_CFG, "prf cfg", "prf-cfg", "name value")                                                     \
	X(TW_TRACELOG_PRF_TPS, "prf tps", "prf-tps", "ms")                                                             \
	X(TW_TRACELOG_PRF_TRS, "prf trs", "prf-trs", "ms")                                                             \
	X(TW_TRACELOG_PRC_CPU, "prc cpu", "prc-cpu", "ms us")                                                          \
	X(TW_TRACELOG_THR_CRT, "thr crt", "thr-crt", "ptr:thread iid")                                                 \
	X(TW_TRACELOG_THR_AOS, "thr aos", "thr-aos", "iid n:os-thread")                                                \
	X(TW_TRACELOG_THR_DST, "thr dst", "thr-dst", "iid")                                                            \
	X(TW_TRACELOG_THR_CPU, "thr cpu", "thr-cpu", "iid ms us")                                                      \
	X(TW_TRACELOG_MOD_LDF, "mod ldf", "mod-ldf", "ptr:module ptr:base ptr:assembly hr \"path\"")                   \
	X(TW_TRACELOG_MOD_ATA, "mod ata", "mod-ata", "ptr:module ptr:assembly")                                        \
	X(TW_TRACELOG_ASM_LDF, "asm ldf", "asm-ldf", "ptr:assembly ptr:domain ptr:module hr \"name\"")                 \
	X(TW_TRACELOG_APD_CRF, "apd crf", "apd-crf", "ptr:domain ptr:process hr \"name\"")                             \
	X(TW_TRACELOG_CLS_LDF, "cls ldf", "cls-ldf", "ptr:class [iid] ptr:module tok hr")                              \
	X(TW_TRACELOG_CLS_NAM, "cls nam", "cls-nam", "iid \"name\"")                                                   \
	X(TW_TRACELOG_FUN_INF, "fun inf", "fun-inf", "iid ptr:function ptr:class ptr:module tok code* map*")           \
	X(TW_TRACELOG_FUN_CMF, "fun cmf", "fun-cmf", "ptr:function iid ptr:class ptr:module tok hr code* map*")        \
	X(TW_TRACELOG_FUN_CSF, "fun csf", "fun-csf", "ptr:function iid ptr:class ptr:module tok code* map*")           \
	X(TW_TRACELOG_FUN_NAM, "fun nam", "fun-nam", "iid \"full name\" [\"return type\" \"signature\"]")              \
	X(TW_TRACELOG_JIT_CMS, "jit cms", "jit-cms", "thread ms ptr:function")                                         \
	X(TW_TRACELOG_JIT_CMF, "jit cmf", "jit-cmf", "thread ms ptr:function hr")                                      \
	X(TW_TRACELOG_JIT_CSS, "jit css", "jit-css", "thread ms ptr:function")                                         \
	X(TW_TRACELOG_JIT_CSF, "jit csf", "jit-csf", "thread ms ptr:function")                                         \
	X(TW_TRACELOG_GCH_GCS, "gch gcs", "gch-gcs", "thread ms (reason|?) [tf]+")                                     \
	X(TW_TRACELOG_GCH_GCF, "gch gcf", "gch-gcf", "thread ms")                                                      \
	X(TW_TRACELOG_GCH_ALT, "gch alt", "gch-alt", "ms (iid:count:bytes)*")                                          \
	X(TW_TRACELOG_GCH_GEN, "gch gen", "gch-gen", "ms (name:allocated:reserved)*")                                  \
	X(TW_TRACELOG_SAM_STR, "sam str", "sam-str", "iid ms count match:size[:ip] (iid[:ip])*")                       \
	X(TW_TRACELOG_STR_SAM, "str sam", "str-sam", "iid ms count|? match:size[:ip] (iid[:ip])*") /* of 2017 */       \
	X(TW_TRACELOG_SAM_MEM, "sam mem", "sam-mem", "iid ms (iid:count:bytes[:ip])*")                                 \
	X(TW_TRACELOG_LIN_SRC, "lin src", "lin-src", "iid:line iid:file iid n n n n")                                  \
	X(TW_TRACELOG_FIL_SRC, "fil src", "fil-src", "iid:file \"path\"")

enum tw_tracelog_kind {
	TW_TRACELOG_UNKNOWN, /* a line that begins with no such words */
#define X(name, words, text, fields) name,
	TW_TRACELOG_KIND_LIST(X)
#undef X
	    TW_TRACELOG_KINDS
};

/* Returns the name of a kind ("sam-str"), "unknown" for TW_TRACELOG_UNKNOWN, NULL for a number that is none. */
TW_API const char *tw_tracelog_kind_name(unsigned kind);

/* The dialects, oldest first: what the profiler's versions, and the adaptor of the Visual Studio plug-in, write.
 *
 * X(name, text) */
#define TW_TRACELOG_DIALECT_LIST(X)                                                                                    \
	X(TW_TRACELOG_D0, "d0") /* early 2017: str sam, fun nam with one text, cls ldf without iid, bare ip */         \
	X(TW_TRACELOG_D1, "d1") /* 2017 to 2018: sam str, fun cmf/csf, bare ip */                                      \
	X(TW_TRACELOG_D2, "d2") /* the document: fun inf, jit and gch with iid, ip a pointer */                        \
	X(TW_TRACELOG_D3, "d3") /* 2018 on: zone in prf stm, jit and gch with OS thread ids, gch gen */                \
	X(TW_TRACELOG_VS, "vs") /* d3 with lin src and fil src; an ip is the number of a line */

enum tw_tracelog_dialect {
#define X(name, text) name,
	TW_TRACELOG_DIALECT_LIST(X)
#undef X
	    TW_TRACELOG_DIALECTS
};

/* Returns "d0" to "vs", NULL for a number that is none. */
TW_API const char *tw_tracelog_dialect_name(unsigned dialect);

/* How numbers are written that more than one way is right for. Decoding tells it, encoding follows it, so that a line
 * comes out as it went in. All zero: 64-bit pointers, everything as d3 has it. */
enum tw_tracelog_style {
	TW_TRACELOG_POINTERS_32 = 1,  /* pointers have 8 digits, not 16 */
	TW_TRACELOG_BARE_IP = 2,      /* instruction pointers without 0x (d0, d1) */
	TW_TRACELOG_PADDED_IP = 4,    /* with as many digits as pointers, not as many as needed */
	TW_TRACELOG_NO_CLASS_IID = 8, /* cls ldf (d0) */
	TW_TRACELOG_ONE_NAME = 16,    /* fun nam (d0) */
	TW_TRACELOG_UPPER = 32,       /* numbers of 32 bits in upper-case digits: the document, vs */
	TW_TRACELOG_PADDED_IID = 64,  /* an item: its iid has 8 digits, not as many as needed (vs) */
	TW_TRACELOG_RESTYLE = 128,    /* encoding: items are written in the style of their record, not in their own */
	TW_TRACELOG_NO_IID = 256      /* the iid of the record or item is "?"; its member is TW_TRACELOG_IID_NONE */
};

/* What in a line is not as the profiler writes it, though it can be read. Encoding mends it, but for quotes. */
enum tw_tracelog_odd {
	TW_TRACELOG_CRLF = 1,    /* the line ends in CR LF */
	TW_TRACELOG_BLANKS = 2,  /* tabs, more than one space, spaces before or behind */
	TW_TRACELOG_BOM = 4,     /* a byte order mark stands before the line */
	TW_TRACELOG_NO_END = 8,  /* the input ends without a line end */
	TW_TRACELOG_CASE = 16,   /* a pointer in lower-case digits, other numbers in both cases, 0X */
	TW_TRACELOG_DIGITS = 32, /* more or fewer digits than the field has; a sign before 0 */
	TW_TRACELOG_QUOTES = 64, /* quotes inside a text: where it ends is a guess (fun nam: the last two `" "`) */
	TW_TRACELOG_NEGATIVE_US = 128, /* a CPU usage written as a negative number */
	TW_TRACELOG_UNSIGNED_MS = 256, /* a time from 2147483648 on, which the profiler writes as a negative number */
	TW_TRACELOG_SURPLUS = 512      /* something stands behind the last field: encoding leaves it out */
};

/* The iid of what has none, or none that is known. */
#define TW_TRACELOG_IID_NONE UINT32_MAX

/* A text of a line: into the bytes that were decoded. Not terminated, not checked to be UTF-8. */
struct tw_tracelog_text {
	const uint8_t *bytes; /* never NULL where the kind has it */
	size_t size;
};

/* What a thread is given as: jit and gch records. */
enum tw_tracelog_thread_form {
	TW_TRACELOG_THREAD_IID, /* hexadecimal: the profiler's number (d2) */
	TW_TRACELOG_THREAD_OS,  /* decimal: the system's (d3) */
	TW_TRACELOG_THREAD_NONE /* "?" */
};

/* One record. Which members hold something depends on the kind; the others are 0. */
struct tw_tracelog_record {
	enum tw_tracelog_kind kind;
	unsigned style; /* enum tw_tracelog_style */
	unsigned odd;   /* enum tw_tracelog_odd */
	size_t size;    /* bytes of the line, its end included */

	uint32_t ms;     /* time since the profiler's start; wraps after 49.7 days; written signed, as %d */
	uint32_t thread; /* thr, sam: iid; jit, gch: by thread_form */
	enum tw_tracelog_thread_form thread_form;
	uint32_t iid;  /* cls, fun: its own; lin src: the function's */
	uint64_t id;   /* pointer of what the record is about: thr crt, mod, asm, apd, cls, fun, jit (function) */
	uint64_t base; /* mod ldf: load address */
	uint64_t assembly, domain, module, class_id; /* pointers of what it belongs to: mod; asm; asm, cls, fun; fun */
	uint64_t process;                            /* apd crf: process id (written as a pointer) */
	uint32_t token;                              /* cls ldf, fun: of the metadata */
	uint32_t status;                             /* HRESULT */
	uint32_t os_thread;                          /* thr aos */
	uint64_t us; /* CPU usage since the last such record; may be a negative number as 64 bits hold it */

	/* sam str, str sam */
	uint64_t count; /* sampling ticks */
	bool has_count; /* false: "?" (d0) */
	uint32_t match; /* frames from the bottom that stay */
	uint32_t depth; /* of the stack before: the document's stackSize */
	uint64_t ip;    /* new call point of the last frame that stays */
	bool has_ip;    /* an ip is written */
	bool ip_known;  /* and it is not "?" */

	/* gch gcs */
	bool induced;             /* the reason is "induced" */
	uint8_t generations;      /* bit i: generation i is collected; bit 3 is the large-object heap */
	uint8_t generation_count; /* flags written: 4; 1 to 8 */

	/* prf stm: local time */
	uint16_t year;
	uint8_t month, day, hour, minute, second;
	uint16_t millisecond;
	bool has_zone;
	int16_t zone_minutes; /* east of UTC */

	/* lin src: numbers of the line and its file are `line` and `file` (fil src too) */
	uint32_t line, file, start_line, start_column, end_line, end_column;

	struct tw_tracelog_text name;        /* mod: path; asm, apd, cls, fun; prf cfg; fil src: path */
	struct tw_tracelog_text value;       /* prf cfg */
	struct tw_tracelog_text return_type; /* fun nam */
	struct tw_tracelog_text signature;   /* fun nam */
	struct tw_tracelog_text reason;      /* gch gcs: "induced", or another word; empty: "?" */
	struct tw_tracelog_text surplus;     /* what stands behind the last field, where something does */

	/* Of kinds with a list, the last to come: tw_tracelog_next(). Of an unknown line: the whole of it, without
	 * its end. */
	struct tw_tracelog_text list;
};

/* Why and where a line could not be decoded. */
struct tw_tracelog_fault {
	size_t at;                     /* byte in the line */
	const char *expected;          /* "a time in milliseconds": a constant */
	struct tw_tracelog_text found; /* what is there, up to the next blank, at most 32 bytes */
};

/* Decodes one line: bytes[0, size) with its LF, or without one where the input ends. The list at its end is found, not
 * looked into. Texts point into the bytes.
 * Returns 0, or TW_ERR_FORMAT where it is none of the known kinds (kind is TW_TRACELOG_UNKNOWN, the line is in `list`)
 * or a field of a known kind is not as it should be (then *fault tells; kind, size, odd and the members before it are
 * set). */
TW_API int tw_tracelog_decode(const uint8_t *bytes, size_t size, struct tw_tracelog_record *record,
                              struct tw_tracelog_fault *fault);

/* What an item of a list is, by the kind of its record. */
enum tw_tracelog_item_kind {
	TW_TRACELOG_CODE,  /* fun inf, cmf, csf: start, bytes */
	TW_TRACELOG_MAP,   /* fun inf, cmf, csf: il, start, end */
	TW_TRACELOG_FRAME, /* sam str, str sam: iid[, ip] */
	TW_TRACELOG_CLASS, /* gch alt, sam mem: iid, count, bytes[, ip] */
	TW_TRACELOG_HEAP   /* gch gen: name, bytes (allocated), reserved; in order LOH, gen 2, 1, 0, perhaps POH */
};

/* The special IL offsets of a map. */
enum { TW_TRACELOG_IL_NO_MAPPING = -1, TW_TRACELOG_IL_PROLOG = -2, TW_TRACELOG_IL_EPILOG = -3 };

struct tw_tracelog_item {
	enum tw_tracelog_item_kind kind;
	unsigned style; /* as of records: each item has its own */
	unsigned odd;
	uint32_t iid;
	uint64_t count;
	uint64_t bytes; /* of code, of objects, allocated */
	uint64_t reserved;
	uint64_t start, end; /* code: an address; map: offsets into the code, end exclusive */
	int64_t il;          /* map: offset in the IL, or one of the special ones */
	uint64_t ip;
	bool has_ip, ip_known;
	struct tw_tracelog_text name;
};

/* Gives the next item of a record's list. `list` is a copy of record->list, which moves on.
 * Returns 1, 0 at the end, or TW_ERR_FORMAT for an item that is not as it should be: *fault tells (`at` from the
 * beginning of the copy before the call), and the list is behind it, so that one may go on. */
TW_API int tw_tracelog_next(const struct tw_tracelog_record *record, struct tw_tracelog_text *list,
                            struct tw_tracelog_item *item, struct tw_tracelog_fault *fault);

/* Writes a record as a line with LF, as its style says; its list is written item by item. An unknown record is
 * written as it was. bytes has room for `room`.
 * Returns the size of the line, TW_ERR_ROOM (3 * record->size + 512 is enough for a decoded record), or TW_ERR_VALUE
 * where the record, or its list, holds something that no line can. */
TW_API int64_t tw_tracelog_encode(const struct tw_tracelog_record *record, uint8_t *bytes, size_t room);

/* The dialects that a record may be of: bit 1 << dialect for each. A line such as "prf tps 5" is of all. */
TW_API unsigned tw_tracelog_dialects(const struct tw_tracelog_record *record);

#ifdef __cplusplus
}
#endif

#endif
