/* scalable.S - SVE's ways to load and store, each once; for vectors of 256 bits. */
/* SPDX-License-Identifier: Apache-2.0 */
	.arch armv8-a+sve
	.text
	.global _start
_start:
	adrp x19, data
	add x19, x19, :lo12:data
	add x20, x19, #256
	mov x22, #0x400000000000
	/* doubles 0 to 2; words 0, 2, 4 */
	ptrue p0.d, vl3
	ld1d {z0.d}, p0/z, [x19]
	st1b {z0.d}, p0, [x20]
	ld1rw {z1.s}, p0/z, [x19, #4]
	/* by vectors of offsets: 8, 4, 0 */
	index z2.d, #8, #-4
	ld1d {z3.d}, p0/z, [x19, z2.d]
	st1w {z0.d}, p0, [x20, z2.d, lsl #2]
	ld2w {z4.s, z5.s}, p0/z, [x19]
	/* whole registers */
	str z0, [x20, #1, mul vl]
	str p0, [x20, #31, mul vl]
	ldr p1, [x20, #31, mul vl]
	/* the first is there, the second is not; none is there */
	setffr
	index z7.d, xzr, x22
	ldff1d {z6.d}, p0/z, [x19, z7.d]
	rdffr p2.b
	ldnf1d {z8.d}, p0/z, [x22]
	prfd pldl1keep, p0, [x19]
	/* the address is overwritten by what it leads to */
	ld1b {z7.d}, p0/z, [x19, z7.d, uxtw]
	b last
last:
	mov x8, #94
	mov x0, #0
	svc #0

	.data
	.balign 4096
data:
	.set i, 0
	.rept 64
	.byte i
	.set i, i + 1
	.endr
	.space 448
