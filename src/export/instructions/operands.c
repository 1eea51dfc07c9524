/* operands.c - which registers an instruction of AArch64 reads and writes, by a table of encodings.
 *
 * Source: Arm Architecture Reference Manual for A-profile (DDI 0487), C4.1, "A64 instruction set encoding". */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/instructions/operands.h"

#include "base/bytes/bytes.h"

#include <stddef.h>

/* Fields of the encoding: D bits 0 to 4, N 5 to 9, A 10 to 14, M 16 to 20. */
enum {
	WD = 1 << 0,
	RD = 1 << 1,
	WN = 1 << 2, /* the base is written back */
	RN = 1 << 3,
	WA = 1 << 4,
	RA = 1 << 5,
	WM = 1 << 6,
	RM = 1 << 7,
	WF = 1 << 8, /* the flags */
	RF = 1 << 9,
	VD = 1 << 10, /* the field names a vector */
	VN = 1 << 11,
	VA = 1 << 12,
	VM = 1 << 13,
	SD = 1 << 14, /* 31 is SP, not zero */
	SN = 1 << 15
};

enum { BASE = RN | SN, BACK = WN | BASE, VECTORS = WD | VD | RN | VN | RM | VM, UNARY = WD | VD | RN | VN };

/* The first that matches is taken. */
static const struct {
	uint32_t mask, value;
	uint16_t uses;
} rows[] = {
    /* Data processing, immediate. */
    {0x1f000000, 0x10000000, WD},             /* ADR, ADRP */
    {0x3f000000, 0x11000000, WD | SD | BASE}, /* ADD, SUB */
    {0x3f000000, 0x31000000, WD | BASE | WF}, /* ADDS, SUBS */
    {0x7f800000, 0x72000000, WD | RN | WF},   /* ANDS */
    {0x1f800000, 0x12000000, WD | SD | RN},   /* AND, ORR, EOR */
    {0x7f800000, 0x72800000, WD | RD},        /* MOVK */
    {0x1f800000, 0x12800000, WD},             /* MOVN, MOVZ */
    {0x7f800000, 0x33000000, WD | RD | RN},   /* BFM */
    {0x1f800000, 0x13000000, WD | RN},        /* SBFM, UBFM */
    {0x1f800000, 0x13800000, WD | RN | RM},   /* EXTR */
    /* Data processing, register. */
    {0x7f000000, 0x6a000000, WD | RN | RM | WF}, /* ANDS, BICS */
    {0x1f000000, 0x0a000000, WD | RN | RM},      /* AND, ORR, EOR and their like */
    {0x3f200000, 0x0b200000, WD | SD | BASE | RM},
    {0x3f200000, 0x2b200000, WD | BASE | RM | WF}, /* extended */
    {0x3f000000, 0x0b000000, WD | RN | RM},
    {0x3f000000, 0x2b000000, WD | RN | RM | WF}, /* shifted */
    {0x3fe0fc00, 0x1a000000, WD | RN | RM | RF}, /* ADC, SBC */
    {0x3fe0fc00, 0x3a000000, WD | RN | RM | RF | WF},
    {0x1fe00800, 0x1a400000, RN | RM | RF | WF}, /* CCMP */
    {0x1fe00800, 0x1a400800, RN | RF | WF},
    {0x1fe00000, 0x1a800000, WD | RN | RM | RF}, /* CSEL */
    {0x5fe00000, 0x1ac00000, WD | RN | RM},      /* UDIV, LSLV, CRC32 */
    {0x5fe00000, 0x5ac00000, WD | RN},           /* RBIT, CLZ */
    {0x1f000000, 0x1b000000, WD | RN | RM | RA}, /* MADD */
    /* Floating point, and vectors. */
    {0x5f27fc00, 0x1e220000, WD | VD | RN}, /* SCVTF, UCVTF, FMOV from a general register */
    {0x5f27fc00, 0x1e230000, WD | VD | RN},
    {0x5f27fc00, 0x1e270000, WD | VD | RN},
    {0x5f20fc00, 0x1e200000, WD | RN | VN}, /* FCVT and FMOV to one */
    {0x5f270000, 0x1e020000, WD | VD | RN}, /* the same of fixed point */
    {0x5f270000, 0x1e030000, WD | VD | RN},
    {0x5f200000, 0x1e000000, WD | RN | VN},
    {0x5f203c00, 0x1e202000, RN | VN | RM | VM | WF},      /* FCMP */
    {0x5f200c00, 0x1e200400, RN | VN | RM | VM | RF | WF}, /* FCCMP */
    {0x5f200c00, 0x1e200c00, VECTORS | RF},                /* FCSEL */
    {0x5f201c00, 0x1e201000, WD | VD},                     /* FMOV of a constant */
    {0x5f207c00, 0x1e204000, UNARY},                       /* FABS, FSQRT, FCVT */
    {0x5f200c00, 0x1e200800, VECTORS},                     /* FADD, FMUL */
    {0x5f000000, 0x1f000000, VECTORS | RA | VA},           /* FMADD */
    {0xbfe0fc00, 0x0e000c00, WD | VD | RN},                /* DUP, INS of a general register */
    {0xffe0fc00, 0x4e001c00, WD | RD | VD | RN},
    {0xbfe0fc00, 0x0e002c00, WD | RN | VN}, /* SMOV, UMOV */
    {0xbfe0fc00, 0x0e003c00, WD | RN | VN},
    {0x9ff80400, 0x0f000400, WD | VD}, /* MOVI */
    {0x9f800400, 0x0f000400, UNARY},   /* shifts by a constant */
    {0x9f3e0c00, 0x0e200800, UNARY},   /* of one vector, and across it */
    {0x9f3e0c00, 0x0e300800, UNARY},
    {0x1e000000, 0x0e000000, VECTORS},
    {0x5e000000, 0x5e000000, VECTORS}, /* scalars */
    /* Loads and stores. */
    {0xbfa07c00, 0x08207c00, WM | RM | RD | BASE}, /* CASP */
    {0xbfe00000, 0x88200000, WM | RD | RA | BASE}, /* STXP */
    {0xbfe00000, 0x88600000, WD | WA | BASE},      /* LDXP */
    {0x3fe00000, 0x08000000, WM | RD | BASE},      /* STXR */
    {0x3fe00000, 0x08400000, WD | BASE},           /* LDXR */
    {0x3fe00000, 0x08800000, RD | BASE},           /* STLR */
    {0x3fe00000, 0x08c00000, WD | BASE},           /* LDAR */
    {0x3fa00000, 0x08a00000, WM | RM | RD | BASE}, /* CAS */
    {0xbec00000, 0x0c000000, RD | VD | BASE},      /* ST1 to ST4 */
    {0xbec00000, 0x0c400000, WD | VD | BASE},
    {0xbec00000, 0x0c800000, RD | VD | BACK},
    {0xbec00000, 0x0cc00000, WD | VD | BACK},
    {0xff000000, 0xd8000000, 0}, /* PRFM */
    {0x3f000000, 0x18000000, WD},
    {0x3f000000, 0x1c000000, WD | VD}, /* literals */
    {0x3ec00000, 0x28000000, RD | RA | BASE},
    {0x3ec00000, 0x28400000, WD | WA | BASE},
    {0x3ec00000, 0x28800000, RD | RA | BACK},
    {0x3ec00000, 0x28c00000, WD | WA | BACK},
    {0x3ec00000, 0x2c000000, RD | VD | RA | VA | BASE},
    {0x3ec00000, 0x2c400000, WD | VD | WA | VA | BASE},
    {0x3ec00000, 0x2c800000, RD | VD | RA | VA | BACK},
    {0x3ec00000, 0x2cc00000, WD | VD | WA | VA | BACK},
    {0xffc00000, 0xf9800000, BASE},      /* PRFM */
    {0x3fc00000, 0x39000000, RD | BASE}, /* unsigned offset */
    {0x3f000000, 0x39000000, WD | BASE},
    {0x3f400000, 0x3d000000, RD | VD | BASE},
    {0x3f400000, 0x3d400000, WD | VD | BASE},
    {0xffe00c00, 0xf8800000, BASE},      /* PRFUM */
    {0x3fe00400, 0x38000000, RD | BASE}, /* unscaled; before and behind, written back */
    {0x3fe00400, 0x38000400, RD | BACK},
    {0x3f200400, 0x38000000, WD | BASE},
    {0x3f200400, 0x38000400, WD | BACK},
    {0x3f600400, 0x3c000000, RD | VD | BASE},
    {0x3f600400, 0x3c000400, RD | VD | BACK},
    {0x3f600400, 0x3c400000, WD | VD | BASE},
    {0x3f600400, 0x3c400400, WD | VD | BACK},
    {0xffe00c00, 0xf8a00800, BASE | RM},      /* PRFM */
    {0x3fe00c00, 0x38200800, RD | BASE | RM}, /* by a register */
    {0x3f200c00, 0x38200800, WD | BASE | RM},
    {0x3f600c00, 0x3c200800, RD | VD | BASE | RM},
    {0x3f600c00, 0x3c600800, WD | VD | BASE | RM},
    {0x3f200c00, 0x38200000, WD | RM | BASE}, /* LDADD and its like, SWP, LDAPR */
    {0xff200400, 0xf8200400, WD | BASE},      /* LDRAA */
    {0x3fe00c00, 0x19000000, RD | BASE},      /* STLUR */
    {0x3f200c00, 0x19000000, WD | BASE},      /* LDAPUR */
    /* The system. */
    {0xffffffe0, 0xd53b4200, WD | RF}, /* MRS and MSR of NZCV */
    {0xffffffe0, 0xd51b4200, RD | WF},
    {0xfff00000, 0xd5300000, WD},
    {0xfff00000, 0xd5100000, RD},
    {0xfff80000, 0xd5080000, RD}, /* SYS: DC, IC */
    {0xfff80000, 0xd5280000, WD},
};

static void add(uint8_t *numbers, uint8_t *count, unsigned number)
{
	if (*count < TW_OPERANDS)
		numbers[(*count)++] = (uint8_t)number;
}

/* What a field names, to where it is read and written. */
static void take_field(struct tw_operands *to, uint32_t opcode, unsigned low, unsigned uses)
{
	enum { WRITTEN = 1, READ = 2, IS_VECTOR = 4, IS_SP = 8, ZERO = 31 };
	unsigned number = (unsigned)tw_bits(opcode, low, low + 4);
	if (number == ZERO && !(uses & (IS_VECTOR | IS_SP)))
		return;
	number += uses & IS_VECTOR ? TW_OPERAND_VECTOR : 0;
	if (uses & WRITTEN)
		add(to->written, &to->written_count, number);
	if (uses & READ)
		add(to->read, &to->read_count, number);
}

/* The uses of a field, as take_field() has them. */
static unsigned uses_of(unsigned uses, unsigned written, unsigned vector, unsigned sp)
{
	return (uses & written ? 1u : 0) | (uses & written << 1 ? 2u : 0) | (uses & vector ? 4u : 0) |
	       (uses & sp ? 8u : 0);
}

void tw_operands_of(uint32_t opcode, struct tw_operands *operands)
{
	unsigned uses = 0;
	*operands = (struct tw_operands){0};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if ((opcode & rows[i].mask) == rows[i].value) {
			uses = rows[i].uses;
			break;
		}
	take_field(operands, opcode, 0, uses_of(uses, WD, VD, SD));
	take_field(operands, opcode, 10, uses_of(uses, WA, VA, 0));
	take_field(operands, opcode, 16, uses_of(uses, WM, VM, 0));
	take_field(operands, opcode, 5, uses_of(uses, WN, VN, SN));
	if (uses & WF)
		add(operands->written, &operands->written_count, TW_OPERAND_FLAGS);
	if (uses & RF)
		add(operands->read, &operands->read_count, TW_OPERAND_FLAGS);
}
