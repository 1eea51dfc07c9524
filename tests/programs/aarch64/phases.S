/* phases.S - three loops, one after the other, four times: each is 10,000 instructions and 3, and the whole 2 + 4 * (30,009 + 2) + 3.
 *
 * The first is of 4 instructions, the second of 5, the third of 8. */
/* SPDX-License-Identifier: Apache-2.0 */
	.global _start
_start:
	mov x19, #4
	mov x20, #0
rounds:
	mov x0, #2500
	mov x1, #0
	mov x2, #0
one:
	add x1, x1, x0
	eor x2, x2, x1
	subs x0, x0, #1
	b.ne one
	mov x0, #2000
	mov x1, #7
	mov x2, #3
two:
	mul x1, x1, x2
	lsr x3, x1, #5
	add x1, x1, x3
	subs x0, x0, #1
	b.ne two
	mov x0, #1250
	adrp x4, word
	add x4, x4, :lo12:word
three:
	ldr x1, [x4]
	add x1, x1, x0
	eor x1, x1, x2
	orr x2, x1, #1
	sub x2, x2, x0
	str x2, [x4]
	subs x0, x0, #1
	b.ne three
	subs x19, x19, #1
	b.ne rounds
	mov x0, #0
	mov x8, #94
	svc #0

	.data
	.balign 8
word:	.xword 1
