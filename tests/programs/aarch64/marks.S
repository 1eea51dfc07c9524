/* marks.S - two stretches between marks: ten instructions, and five. */
/* SPDX-License-Identifier: Apache-2.0 */
	.global _start
_start:
	mov x0, #0
	mov x1, #1
	hint #9
	.rept 8
	add x0, x0, x1
	.endr
	sub sp, sp, #16
	str x0, [sp]
	hint #9
	mov x2, #3
	b 1f
1:	hint #9
	mov x3, #100
2:	subs x3, x3, #50
	b.ne 2b
	hint #9
	mov x0, #0
	mov x8, #94
	svc #0
