/* stubs.S - what sleds call: the number of the function is in %r10d. All registers are kept but the flags, %r10, and those
 * that only vector instructions use: the recorder has none. */
/* SPDX-License-Identifier: Apache-2.0 */
#if defined(__x86_64__)
	.text

/* Keeps what a function of C may change, with as many bytes below as align the stack; and gives it back. */
	.macro	KEEP gap
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
	.endm
	.macro	GIVE_BACK gap
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
	.endm

/* name, kind, bytes that align the stack for the call, and bytes between the function's return address and what is
 * pushed here */
	.macro	STUB name, kind, gap, over
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	KEEP	\gap
	mov	%rdi, %rdx
	mov	%r10d, %edi
	mov	$\kind, %esi
	lea	72 + \gap + \over(%rsp), %rcx
	call	tw_flight_sled
	GIVE_BACK \gap
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

/* An entry and a tail exit are called where the stack was as the function was called: a multiple of 16 here. An exit is
 * jumped to in the place of "ret". */
	STUB	tw_flight_enter, 0, 8, 8
	STUB	tw_flight_exit, 1, 0, 0
	STUB	tw_flight_tail_exit, 2, 8, 8
	STUB	tw_flight_enter_argument, 3, 8, 8

/* What gcc calls where functions begin and end: a function of C is given where it was called from, and the place of its
 * caller's return address. */
	.macro	HOOK name, function
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	push	%rax
	mov	flight_log(%rip), %rax
	cmpq	$0, (%rax) /* the generation: 0 while nothing is recorded */
	jne	1f
	cmpq	$0, 8(%rax) /* is_known */
	je	1f
	pop	%rax
	ret
1:	pop	%rax
	KEEP	8
	mov	80(%rsp), %rdi
	lea	80 + 8(%rsp), %rsi
	call	\function
	GIVE_BACK 8
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	HOOK	__fentry__, tw_flight_fentry
	HOOK	__return__, tw_flight_return

/* The sled of an event: 128 bytes below the stack are left to its function, which may have its red zone there. All
 * registers, by their numbers, and what stands behind the call tell the event. */
	.globl	tw_flight_event
	.hidden	tw_flight_event
	.type	tw_flight_event, @function
	.p2align 4
tw_flight_event:
	.cfi_startproc
	.cfi_def_cfa_offset 8 + 128
	.cfi_offset %rip, -8 - 128
	endbr64
	pushf
	push	%r15
	push	%r14
	push	%r13
	push	%r12
	push	%r11
	push	%r10
	push	%r9
	push	%r8
	push	%rdi
	push	%rsi
	push	%rbp
	push	%rsp
	push	%rbx
	push	%rdx
	push	%rcx
	push	%rax
	.cfi_adjust_cfa_offset 17 * 8
	.cfi_rel_offset %rbx, 3 * 8
	mov	%rsp, %rdi
	mov	17 * 8(%rsp), %rsi
	mov	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	and	$-16, %rsp
	cld
	call	tw_flight_sled_event
	mov	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	pop	%rax
	pop	%rcx
	pop	%rdx
	pop	%rbx
	lea	8(%rsp), %rsp
	pop	%rbp
	pop	%rsi
	pop	%rdi
	pop	%r8
	pop	%r9
	pop	%r10
	pop	%r11
	pop	%r12
	pop	%r13
	pop	%r14
	pop	%r15
	popf
	.cfi_adjust_cfa_offset -17 * 8
	.cfi_restore %rbx
	ret	$128
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
