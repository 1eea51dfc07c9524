/* stubs_aarch64.S - what sleds of AArch64 call: the number of the function is in w17; x0 and x30 are on the stack. All
 * registers are kept but those that a call may use between two functions, and those of vectors: the recorder has none. */
/* SPDX-License-Identifier: Apache-2.0 */
#if defined(__aarch64__)
	.text

	.macro	STUB name, kind
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	stp	x29, x30, [sp, #-176]!
	.cfi_def_cfa_offset 176
	.cfi_offset x29, -176
	.cfi_offset x30, -168
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	stp	x8, x9, [sp, #80]
	stp	x10, x11, [sp, #96]
	stp	x12, x13, [sp, #112]
	stp	x14, x15, [sp, #128]
	str	x18, [sp, #144]
	mov	x2, x0
	mov	w0, w17
	mov	w1, #\kind
	add	x3, sp, #192 /* the stack of the function, which has 16 bytes more for x0 and x30 */
	bl	tw_flight_sled
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldp	x6, x7, [sp, #64]
	ldp	x8, x9, [sp, #80]
	ldp	x10, x11, [sp, #96]
	ldp	x12, x13, [sp, #112]
	ldp	x14, x15, [sp, #128]
	ldr	x18, [sp, #144]
	ldp	x29, x30, [sp], #176
	.cfi_def_cfa_offset 0
	add	x30, x30, #12 /* behind the number and the address */
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	STUB	tw_flight_enter, 0
	STUB	tw_flight_exit, 1
	STUB	tw_flight_tail_exit, 2
	STUB	tw_flight_enter_argument, 3

/* The sled of an event: x16 and x30 are on the stack. All registers, by their numbers, and what stands behind the call
 * tell the event. */
	.globl	tw_flight_event
	.hidden	tw_flight_event
	.type	tw_flight_event, @function
	.p2align 4
tw_flight_event:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset x30, -8
	hint	#34 /* bti c */
	sub	sp, sp, #272
	.cfi_def_cfa_offset 288
	stp	x0, x1, [sp]
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x18, x19, [sp, #144]
	.cfi_rel_offset x19, 152
	stp	x20, x21, [sp, #160]
	stp	x22, x23, [sp, #176]
	stp	x24, x25, [sp, #192]
	stp	x26, x27, [sp, #208]
	stp	x28, x29, [sp, #224]
	ldp	x16, x1, [sp, #272]
	stp	x16, x17, [sp, #128]
	stp	x1, xzr, [sp, #240] /* 31 is zero */
	mrs	x2, nzcv
	str	x2, [sp, #256]
	mov	x0, sp
	mov	x1, x30
	mov	x19, x30
	bl	tw_flight_sled_event
	add	x30, x19, #8 /* behind the address and the registers */
	ldr	x2, [sp, #256]
	msr	nzcv, x2
	ldp	x0, x1, [sp]
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	ldp	x8, x9, [sp, #64]
	ldp	x10, x11, [sp, #80]
	ldp	x12, x13, [sp, #96]
	ldp	x14, x15, [sp, #112]
	ldr	x17, [sp, #136]
	ldp	x18, x19, [sp, #144]
	.cfi_restore x19
	add	sp, sp, #272
	.cfi_def_cfa_offset 16
	ret
	.cfi_endproc
	.size	tw_flight_event, . - tw_flight_event

/* What the sleds of events name. Sleds that are patched call the one above; these are for programs that are linked
 * without LLVM's runtime. */
	.weak	__xray_CustomEvent
	.type	__xray_CustomEvent, @function
	.weak	__xray_TypedEvent
	.type	__xray_TypedEvent, @function
__xray_CustomEvent:
__xray_TypedEvent:
	ret
#endif
	.section .note.GNU-stack, "", %progbits
