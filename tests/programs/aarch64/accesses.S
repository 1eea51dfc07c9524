/* accesses.S - every kind of access and of register that a trace tells of, once, without a library. */
/* SPDX-License-Identifier: Apache-2.0 */
	.arch armv8.2-a
	.text
	.global _start
_start:
	adrp x19, data
	add x19, x19, :lo12:data
	/* plain loads and stores */
	ldr x0, [x19]
	ldrb w1, [x19, #1]
	ldrsh x2, [x19, #6]
	ldp x3, x4, [x19, #8]
	ldpsw x5, x6, [x19, #24]
	str w0, [x19, #64]
	stp x3, x4, [x19, #72]
	strh wzr, [x19, #64]
	ldr q0, [x19, #16]
	stp q0, q0, [x19, #96]
	ldr d1, constant
	ld1 {v2.16b, v3.16b}, [x19]
	st2 {v2.4s, v3.4s}, [x19]
	ld1 {v4.h}[3], [x19]
	/* exclusive: done, and failed */
	add x20, x19, #128
	ldxr x7, [x20]
	add x7, x7, #1
	stxr w8, x7, [x20]
	clrex
	stxr w8, x7, [x20]
	ldaxp x9, x10, [x20]
	stlxp w8, x9, x10, [x20]
	/* ordered */
	ldar w11, [x20]
	stlr w11, [x20]
	/* LSE */
	.arch armv8.2-a+lse
	mov x12, #5
	ldadd x12, x13, [x20]
	stset x12, [x20]
	swpb w12, w14, [x20]
	ldsmin w12, w20, [x20]
	add x20, x19, #128
	mov x15, #1
	cas x15, x12, [x20]
	cas x15, x12, [x20]
	mov x0, #5
	mov x1, #0
	mov x2, #7
	mov x3, #9
	casp x0, x1, x2, x3, [x20]
	casp x0, x1, x2, x3, [x20]
	/* system registers, flags, zeroing */
	mrs x16, nzcv
	msr tpidr_el0, x20
	cmp x0, x0
	csel x17, x0, x1, eq
	mrs x16, nzcv
	mrs x21, tpidr_el0
	dc zva, x19
	/* branches by register */
	adr x22, next
	br x22
next:	bl leaf
	prfm pldl1keep, [x19]
	/* writev(1, vector, 2), exit(0) */
	mov x8, #66
	mov x0, #1
	adrp x1, vector
	add x1, x1, :lo12:vector
	mov x2, #2
	svc #0
	mov x8, #94
	mov x0, #0
	svc #0
leaf:	ret
	.balign 8
constant:
	.quad 0x0123456789abcdef

	.data
	.balign 64
data:	.quad 0x8877665544332211, 0x1010101010101010, 0x2020202020202020, 0x7fffffff80000000
	.quad 0x3030303030303030, 0x4040404040404040, 0x5050505050505050, 0x6060606060606060
	.fill 8, 8, 0
	.quad 41, 42
	.fill 6, 8, 0
vector:	.quad words, 3
	.quad words + 3, 2
words:	.ascii "ab\nc\n"
