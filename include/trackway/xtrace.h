/* xtrace.h - xtrace's two files, token by token and snapshot by snapshot.
 *
 * Source: "Workload trace格式介绍" of 2025-06-10 (called "the document" here). It is all that is public: where it leaves
 * room, the reading chosen is named as such, and doc/formats/xtrace.md, in the sources, gives the reasons. Everything
 * is little endian. Nothing here allocates, does I/O or keeps globals. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_XTRACE_H
#define TRACKWAY_XTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Reading. ---- */

/* How to read xtraces, for tw_read_options.xtrace. All zero is the default for every member. */
struct tw_xtrace_read_options {
	size_t struct_size; /* trackway/status.h */
	const char *layout; /* of the files, as tw_xtrace_layout_parse() takes it; NULL: found from the bytes */
	bool tokens;        /* tw_read_record(): token by token, not instruction by instruction */
	/* A part, for tw_transcode(): from this snapshot of each thread, the first being 0, to before that one; 0: to
	 * the end. */
	uint64_t from_snapshot, to_snapshot;

	/* A part, for tw_transcode(): only instructions at these PCs (to 0: up to the highest), and of these exception
	 * levels, 1 << 0 for EL0 and so on; 0: of all. It has no snapshots. */
	uint64_t from_address, to_address;
	unsigned levels;
};

/* ---- The data file (xinsndata): tokens without a header. ---- */

/* The kinds of token: a byte, and a payload of so many bytes (those of loads, stores and vectors depend on the token).
 * Exception levels are in bits 6 and 7 of INST and PCINST, the size of an access as a power of 2 in bits 4 to 7 of LOAD
 * and STORE. Source: the document, "xtrace-format数据结构介绍".
 *
 * X(name, token, payload, text) */
#define TW_XTRACE_TOKEN_LIST(X)                                                                                        \
	X(TW_XTRACE_INST, 0x01, 4, "inst")               /* opcode, at the last PC + 4 */                              \
	X(TW_XTRACE_PCINST, 0x09, 12, "pcinst")          /* PC, opcode: the first of a basic block */                  \
	X(TW_XTRACE_LOAD, 0x02, 8, "load")               /* address, then the value */                                 \
	X(TW_XTRACE_STORE, 0x0a, 8, "store")             /* address, then the value */                                 \
	X(TW_XTRACE_STXR, 0x03, 8, "stxr")               /* status register of an exclusive store: 0 is success */     \
	X(TW_XTRACE_MRS, 0x0b, 8, "mrs")                 /* register of MRS or MSR */                                  \
	X(TW_XTRACE_SVCARG, 0x13, 8, "svcarg")           /* seven behind an SVC: x8, x0 to x5 */                       \
	X(TW_XTRACE_SVCRET, 0x1b, 8, "svcret")           /* what a system call returned */                             \
	X(TW_XTRACE_DC, 0x23, 8, "dc")                   /* address of DC ZVA and DC GZVA */                           \
	X(TW_XTRACE_TARGET_B, 0x2b, 8, "target-b")       /* where BR, BLR, RET or ERET goes */                         \
	X(TW_XTRACE_ALLGPR, 0x0c, 256, "allgpr")         /* X0 to X31 where the exception level changes */             \
	X(TW_XTRACE_MISC_FLAGS, 0x1c, 8, "misc-flags")   /* NZCV as in PSTATE, bits 28 to 31 */                        \
	X(TW_XTRACE_SYSCALL_VEC, 0x24, 8, "syscall-vec") /* count, then so many of base, length */                     \
	X(TW_XTRACE_TIME, 0x07, 8, "time")               /* order of a memory access over all files of a capture */

enum tw_xtrace_kind {
	TW_XTRACE_UNKNOWN, /* a token byte that is none: MISC has two that are reserved, of unknown size */
#define X(name, token, payload, text) name,
	TW_XTRACE_TOKEN_LIST(X)
#undef X
	    TW_XTRACE_KINDS
};

/* Returns the name of a kind as TW_XTRACE_TOKEN_LIST has it, "unknown" for TW_XTRACE_UNKNOWN, NULL for a number that is
 * none. */
TW_API const char *tw_xtrace_kind_name(unsigned kind);

enum {
	TW_XTRACE_ACCESS_MAX = 1 << 15,  /* bytes of a load or store: 2 to the power of 4 bits */
	TW_XTRACE_VECTORS_MAX = 1 << 20, /* parts of a SYSCALL_VEC that are believed; Linux allows 1,024 */
	TW_XTRACE_REGISTERS = 32         /* X0 to X30 and SP */
};

/* One token with its payload. Which members hold something depends on the kind; the others are 0. */
struct tw_xtrace_token {
	enum tw_xtrace_kind kind;
	uint8_t level;         /* inst, pcinst: exception level, 0 to 3 */
	uint32_t opcode;       /* inst, pcinst */
	uint64_t pc;           /* pcinst */
	uint64_t value;        /* load, store: address; syscall-vec: count; kinds of 8 bytes: the value */
	uint32_t size;         /* bytes in the file, the token byte too */
	uint32_t payload_size; /* of payload */
	/* Load, store: what was loaded or stored, 2^k bytes; allgpr: the registers; syscall-vec: the parts, 8 bytes
	 * base and 8 bytes length each. Into the input bytes. */
	const uint8_t *payload;
};

/* Decodes the token at bytes[0, left).
 * Returns 1; 0 when left is 0; TW_ERR_ROOM when it goes beyond the bytes (token->size says what it takes, as far as
 * that is known); TW_ERR_FORMAT when the byte is no token (kind is unknown, size 1), or a SYSCALL_VEC has an absurd
 * count. */
TW_API int tw_xtrace_decode(const uint8_t *bytes, size_t left, struct tw_xtrace_token *token);

/* Encodes a token into room bytes at out. Sizes and payload must fit the kind: a load or store has a power of 2 up to
 * TW_XTRACE_ACCESS_MAX bytes.
 * Returns 0 and *size, the bytes written; TW_ERR_ROOM when room is too small (*size: what it takes); TW_ERR_VALUE for
 * what no token can hold. */
TW_API int tw_xtrace_encode(const struct tw_xtrace_token *token, uint8_t *out, size_t room, size_t *size);

/* Reads register i of an ALLGPR payload, or word i of a SYSCALL_VEC's. */
TW_API uint64_t tw_xtrace_word(const uint8_t *payload, size_t i);

/* ---- The snapshot file (xsnapshot): a header, and snapshots of all registers. ---- */

/* How the files are laid out: the document leaves open what the header's padding is, and older files have none.
 * tw_xtrace_layout_guess() finds it. */
struct tw_xtrace_layout {
	uint8_t header_size;  /* 24 (a C struct), 19, 20 or 32; 0: none, as in old traces */
	bool has_za;          /* the matrix register is there */
	uint16_t vector_bits; /* bits of a vector register: a multiple of 128 up to 2048 */
	bool counts_index;    /* a snapshot's index is the number of an instruction, not an offset */
	uint8_t data_start;   /* offset of the data file's first token */
	/* Bytes that DC ZVA makes zero, where only a token DC tells of it: a power of 2 from 4 to 2048. 0: what a read
	 * of DCZID_EL0 tells, 64 without. */
	uint16_t zero_block;
};

/* What of a layout is known already. */
enum tw_xtrace_known {
	TW_XTRACE_KNOWN_HEADER = 1,
	TW_XTRACE_KNOWN_ZA = 2,
	TW_XTRACE_KNOWN_BITS = 4,
	TW_XTRACE_KNOWN_INDEX = 8,
	TW_XTRACE_KNOWN_START = 16,
	TW_XTRACE_KNOWN_ZERO = 32
};

/* Takes a layout as it is written on a command line: "header=24,za=yes,bits=128,index=offset,start=0,zva=64", or some
 * of these; za is yes or no, index is offset or count, zva is zero_block. *known tells which. Returns 0 or
 * TW_ERR_FORMAT. */
TW_API int tw_xtrace_layout_parse(const char *text, struct tw_xtrace_layout *layout, unsigned *known);

/* The header. Source: the document, the list of the header's seven parts. */
struct tw_xtrace_header {
	uint32_t identification;  /* tells kinds of trace apart: no value is documented */
	uint32_t global_snapshot; /* where slices of several threads can begin together */
	uint64_t version;
	uint8_t division;  /* snapshots come every million instructions: of user mode, or of all */
	uint8_t stream;    /* of a thread or of a core */
	uint8_t has_order; /* whether TIME tokens are there */
};

/* The system registers of a snapshot, in their order in the file. X(member) */
#define TW_XTRACE_SYSTEM_LIST(X)                                                                                       \
	X(fpcr)                                                                                                        \
	X(fpsr)                                                                                                        \
	X(nzcv)                                                                                                        \
	X(tpidr_el0)                                                                                                   \
	X(tpidrro_el0)                                                                                                 \
	X(ttbr0_el1)                                                                                                   \
	X(elr_el1)                                                                                                     \
	X(spsr_el1)                                                                                                    \
	X(esr_el1)                                                                                                     \
	X(tpidr_el1)                                                                                                   \
	X(daif)

/* A snapshot. It holds no PC: the instruction that comes next stands in the data file. */
struct tw_xtrace_snapshot {
	uint64_t file; /* number of the data file */
	/* Byte offset in it of the INST or PCINST that comes next; other readings: doc/formats/xtrace.md. */
	uint64_t index;
	uint64_t user_count; /* instructions of user mode executed before */
	uint64_t count;      /* instructions executed before */
	uint64_t x[TW_XTRACE_REGISTERS];
	const uint8_t *z;   /* Z0 to Z31, vector_bits / 8 bytes each. Into the input bytes, as the following */
	const uint8_t *p;   /* P0 to P15, vector_bits / 64 bytes each, every one padded to 16 */
	const uint8_t *ffr; /* one more of those */
	const uint8_t *za;  /* vector_bits / 8 rows of as many bytes; NULL without */
#define X(member) uint64_t member;
	TW_XTRACE_SYSTEM_LIST(X)
#undef X
	uint64_t vector_bits; /* as the snapshot ends: must be the layout's */
};

/* Returns the bytes of a snapshot; 0 where vector_bits is no length that a vector register may have. */
TW_API size_t tw_xtrace_snapshot_size(const struct tw_xtrace_layout *layout);

/* Finds the layout of a file of file_size bytes from its first bytes, of which there are `size`; two snapshots are
 * enough to be sure (2 * 74,656 + 32 bytes at most). The layout must make the snapshots that are there end with their
 * vector length, and their counters grow; of several that do, the one that does so for most, and whose snapshots fill
 * the file. What is known (enum tw_xtrace_known) stays as it is in *layout; where the data begins is not looked for.
 * Returns 0, or TW_ERR_FORMAT when not even the first snapshot makes sense and the layout is not known. */
TW_API int tw_xtrace_layout_guess(const uint8_t *bytes, size_t size, uint64_t file_size, unsigned known,
                                  struct tw_xtrace_layout *layout);

/* Reads a header of layout->header_size bytes, which must be there; all 0 where the layout has none. */
TW_API void tw_xtrace_header_decode(const uint8_t *bytes, const struct tw_xtrace_layout *layout,
                                    struct tw_xtrace_header *header);

/* Writes layout->header_size bytes; padding is 0. */
TW_API void tw_xtrace_header_encode(const struct tw_xtrace_header *header, const struct tw_xtrace_layout *layout,
                                    uint8_t *bytes);

/* Reads a snapshot of tw_xtrace_snapshot_size() bytes, which must be there. Returns 0, or TW_ERR_VALUE when it does not
 * end with the layout's vector length (it is decoded all the same). */
TW_API int tw_xtrace_snapshot_decode(const uint8_t *bytes, const struct tw_xtrace_layout *layout,
                                     struct tw_xtrace_snapshot *snapshot);

/* Writes tw_xtrace_snapshot_size() bytes. Vector registers that are NULL are written as 0. */
TW_API void tw_xtrace_snapshot_encode(const struct tw_xtrace_snapshot *snapshot, const struct tw_xtrace_layout *layout,
                                      uint8_t *bytes);

/* ---- The names of files. ---- */

/* xtrace.{timestamp}.{tid or cpu}.hint{9 or 13}.xinsndata.bin and .xsnapshot.bin */
enum { TW_XTRACE_TIMESTAMP_SIZE = 40, TW_XTRACE_NAME_SIZE = 128 };

struct tw_xtrace_name {
	char timestamp[TW_XTRACE_TIMESTAMP_SIZE]; /* when the capture began: anything without a dot, terminated */
	uint64_t number;                          /* of the thread or the core */
	unsigned hint;                            /* 9: a thread, or the first core; 13: another core */
	bool snapshots;                           /* the snapshot file, not the data */
};

/* Takes a file's name (without directory) apart. Returns 0, or TW_ERR_FORMAT when it is none of these. */
TW_API int tw_xtrace_name_parse(const char *text, struct tw_xtrace_name *name);

/* Writes the name, terminated. */
TW_API void tw_xtrace_name_format(const struct tw_xtrace_name *name, char text[TW_XTRACE_NAME_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
