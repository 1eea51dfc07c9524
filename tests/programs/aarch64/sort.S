/* sort.S - insertion sort of 40 words that stand in the reverse order, with a function for each word, called by address.
 *
 * Word i goes over i others: 780 moves. */
/* SPDX-License-Identifier: Apache-2.0 */
	.equ WORDS, 40
	.global _start
_start:
	adrp x0, words
	add x0, x0, :lo12:words
	adrp x9, insert
	add x9, x9, :lo12:insert
	mov x3, #1
next:
	blr x9
	add x3, x3, #1
	cmp x3, #WORDS
	b.ne next
	mov x0, #0
	mov x8, #94
	svc #0

	.global insert
	.type insert, %function
insert:
	ldr w4, [x0, x3, lsl #2]
	mov x5, x3
1:	cbz x5, 2f
	sub x6, x5, #1
	ldr w7, [x0, x6, lsl #2]
	cmp w7, w4
	b.ls 2f
	str w7, [x0, x5, lsl #2]
	mov x5, x6
	b 1b
2:	str w4, [x0, x5, lsl #2]
	ret

	.data
	.balign 64
words:
	.set i, WORDS
	.rept WORDS
	.word i
	.set i, i - 1
	.endr
