/* zeros.S - DC ZVA, whose blocks are of 64 bytes on some processors and larger on others; memory around them is read. */
/* SPDX-License-Identifier: Apache-2.0 */
	.text
	.global _start
_start:
	adrp x0, data
	add x0, x0, :lo12:data
	mov x1, x0
	mov x2, #-1
	mov x3, #512
fill:	str x2, [x1], #8
	subs x3, x3, #1
	b.ne fill
	/* not at the beginning of a block, from registers that stubs use and from one that they do not */
	add x4, x0, #1040
	dc zva, x4
	add x25, x0, #2049
	dc zva, x25
	add x28, x0, #2176
	dc zva, x28
	add x30, x0, #3123
	dc zva, x30
	mov x3, #512
	mov x5, #0
count:	ldr x6, [x0], #8
	cmp x6, #0
	cinc x5, x5, eq
	subs x3, x3, #1
	b.ne count
	mov x8, #93
	mov x0, x5
	svc #0
	.bss
	.balign 4096
data:	.skip 4096
