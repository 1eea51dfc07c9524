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
#endif
	.section .note.GNU-stack, "", %progbits
