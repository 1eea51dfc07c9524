/* stubs.S - what sleds call: the number of the function is in %r10d. All registers are kept but the flags, %r10, and those
 * that only vector instructions use: the recorder has none. */
/* SPDX-License-Identifier: Apache-2.0 */
#if defined(__x86_64__)
	.text

/* name, kind, bytes that align the stack for the call */
	.macro	STUB name, kind, gap
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	sub	$\gap, %rsp
	.cfi_adjust_cfa_offset 72 + \gap
	mov	%rdi, %rdx
	mov	%r10d, %edi
	mov	$\kind, %esi
	call	tw_flight_sled
	add	$\gap, %rsp
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	.cfi_adjust_cfa_offset -72 - \gap
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

/* An entry and a tail exit are called where the stack was as the function was called: a multiple of 16 here. An exit is
 * jumped to in the place of "ret". */
	STUB	tw_flight_enter, 0, 8
	STUB	tw_flight_exit, 1, 0
	STUB	tw_flight_tail_exit, 2, 8
	STUB	tw_flight_enter_argument, 3, 8
#endif
	.section .note.GNU-stack, "", %progbits
