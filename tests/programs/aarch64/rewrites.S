/* rewrites.S - a function that is written anew each time it is called: by stores, and by a system call.
 *
 * 40 rounds, by stores: X0 = the number of the round; nothing, a conditional select and a read of a system register, in
 * turn; the time each time, which goes to memory. Then read() brings X0 = 7 and X0 = 9. The exit status is their sum by 2^8:
 * 0 + ... + 39 + 7 + 9 = 796 = 28. */
/* SPDX-License-Identifier: Apache-2.0 */
	.global _start
	.macro	synchronise
	dc	cvau, x20
	dsb	ish
	ic	ivau, x20
	dsb	ish
	isb
	.endm

_start:	mov	x0, #0			/* mmap() of a page to read, write and execute */
	mov	x1, #4096
	mov	x2, #7
	mov	x3, #0x22
	mov	x4, #-1
	mov	x5, #0
	mov	x8, #222
	svc	#0
	mov	x20, x0
	mov	x21, #0			/* the sum */
	mov	x22, #0			/* the round */
	adr	x23, turns

round:	mov	w1, #0xd2800000		/* movz x0, #round */
	orr	w1, w1, w22, lsl #5
	str	w1, [x20]
	mov	x2, #3
	udiv	x3, x22, x2
	msub	x3, x3, x2, x22
	ldr	w1, [x23, x3, lsl #2]
	adr	x4, always
	ldp	w5, w6, [x4]
	stp	w1, w5, [x20, #4]
	str	w6, [x20, #12]
	synchronise
	blr	x20
	str	x2, [x20, #64]
	add	x21, x21, x0
	add	x22, x22, #1
	cmp	x22, #40
	b.ne	round

	sub	sp, sp, #16		/* pipe2(), and two functions through it */
	mov	x0, sp
	mov	x1, #0
	mov	x8, #59
	svc	#0
	mov	x22, #2
	adr	x24, seven
again:	ldr	w0, [sp, #4]
	mov	x1, x24
	mov	x2, #8
	mov	x8, #64
	svc	#0
	ldr	w0, [sp]
	mov	x1, x20
	mov	x2, #8
	mov	x8, #63
	svc	#0
	synchronise
	blr	x20
	add	x21, x21, x0
	add	x24, x24, #8
	subs	x22, x22, #1
	b.ne	again
	and	x0, x21, #255
	mov	x8, #94
	svc	#0

turns:	nop
	csel	x1, x2, x3, eq
	mrs	x1, tpidr_el0
always:	mrs	x2, cntvct_el0
	ret
seven:	mov	x0, #7
	ret
	mov	x0, #9
	ret
