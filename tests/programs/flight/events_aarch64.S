/* events_aarch64.S - functions whose arguments reach the sled of an event from all registers, as clang has them since
 * 17: the orders of moves that are wrong there, too. Beside them a sled that somebody has patched, and one that is
 * none. */
/* SPDX-License-Identifier: Apache-2.0 */

/* An entry of the map. Source: compiler-rt, XRaySledEntry, version 2 */
	.macro	ENTRY sled, function, kind
	.pushsection xray_instr_map, "a", @progbits
	.quad	\sled - .
	.quad	\function - .
	.byte	\kind, 1, 2
	.zero	13
	.popsection
	.endm

/* The function keeps all registers that its caller needs, and has marks in others: it returns 0 where one of them, or
 * the flags, have changed. */
	.macro	BEGIN name
	.globl	\name
	.type	\name, @function
	.p2align 2
\name:
	stp	x29, x30, [sp, #-112]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	mov	x29, sp
	mov	x3, #0x5a5a
	mov	x16, #0x6b6b
	mov	x17, #0x7c7c
	mov	x30, #0x8d8d
	.endm

	.macro	MARK register, value
	mov	x28, #\value
	cmp	\register, x28
	b.ne	2f
	.endm

	.macro	END name, a, b
	b.cc	2f
	.ifnc	\a, x17
	MARK	x16, 0x6b6b
	MARK	x17, 0x7c7c
	.endif
	cmp	sp, x29
	b.ne	2f
	add	x0, \a, \b
	b	3f
2:	mov	x0, #0
3:	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #112
	ret
	.size	\name, . - \name
	.endm

/* custom_A_B(data, size) */
	.macro	CUSTOM a, b
	BEGIN	custom_\a\()_\b
	stp	x0, x1, [sp, #96]
	ldr	\a, [sp, #96]
	ldr	\b, [sp, #104]
	cmp	xzr, xzr
1:	b	. + 24
	stp	x0, x1, [sp, #-16]!
	mov	x0, \a
	mov	x1, \b
	bl	__xray_CustomEvent
	ldp	x0, x1, [sp], #16
	END	custom_\a\()_\b, \a, \b
	ENTRY	1b, custom_\a\()_\b, 4
	.endm

/* typed_A_B_C(type, data, size) */
	.macro	TYPED a, b, c
	BEGIN	typed_\a\()_\b\()_\c
	sub	sp, sp, #32
	stp	x0, x1, [sp]
	str	x2, [sp, #16]
	ldr	\a, [sp]
	ldr	\b, [sp, #8]
	ldr	\c, [sp, #16]
	add	sp, sp, #32
	cmp	xzr, xzr
1:	b	. + 36
	stp	x0, x1, [sp, #-32]!
	str	x2, [sp, #16]
	mov	x0, \a
	mov	x1, \b
	mov	x2, \c
	bl	__xray_TypedEvent
	ldr	x2, [sp, #16]
	ldp	x0, x1, [sp], #32
	END	typed_\a\()_\b\()_\c, \b, \c
	ENTRY	1b, typed_\a\()_\b\()_\c, 5
	.endm

	.text
	CUSTOM	x0, x1
	CUSTOM	x1, x0
	CUSTOM	x0, x9
	CUSTOM	x10, x1
	CUSTOM	x19, x20
	CUSTOM	x8, x27
	CUSTOM	x18, x30
	CUSTOM	x17, x16
	TYPED	x0, x1, x2
	TYPED	x1, x2, x0
	TYPED	x2, x0, x1
	TYPED	x9, x10, x19
	TYPED	x3, x4, x5
	TYPED	x0, x2, x1
	TYPED	x30, x0, x21

/* Type and size are nothing: %xzr is moved. */
	BEGIN	typed_zero
	mov	x1, x0
	mov	x2, #4
	cmp	xzr, xzr
1:	b	. + 36
	stp	x0, x1, [sp, #-32]!
	str	x2, [sp, #16]
	mov	x0, xzr
	mov	x1, x1
	mov	x2, x2
	bl	__xray_TypedEvent
	ldr	x2, [sp, #16]
	ldp	x0, x1, [sp], #32
	END	typed_zero, x1, x2
	ENTRY	1b, typed_zero, 5

/* Patched by another: it calls, and does nothing. */
	.globl	foreign
	.type	foreign, @function
	.p2align 2
foreign:
	stp	x29, x30, [sp, #-16]!
1:	nop
	stp	x0, x1, [sp, #-16]!
	mov	x0, x9
	mov	x1, x10
	bl	nothing
	ldp	x0, x1, [sp], #16
	mov	w0, #1
	ldp	x29, x30, [sp], #16
	ret
	.size	foreign, . - foreign
	ENTRY	1b, foreign, 4

/* Another move than clang writes: a shifted one. */
	.globl	wrong
	.type	wrong, @function
	.p2align 2
wrong:
	stp	x29, x30, [sp, #-16]!
1:	b	. + 24
	stp	x0, x1, [sp, #-16]!
	orr	x0, xzr, x9, lsl #1
	mov	x1, x10
	bl	nothing
	ldp	x0, x1, [sp], #16
	mov	w0, #1
	ldp	x29, x30, [sp], #16
	ret
	.size	wrong, . - wrong
	ENTRY	1b, wrong, 4

	.weak	__xray_CustomEvent
	.weak	__xray_TypedEvent
__xray_CustomEvent:
__xray_TypedEvent:
nothing:
	ret
	.section .note.GNU-stack, "", %progbits
