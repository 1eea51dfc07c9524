/* hooks.S - what compiled code calls when it enters and leaves a function, and before a tail call. All registers are kept in
 * which arguments or results may be. Source of the registers of the two arguments, the function and the stack pointer of who
 * called it: REG_PROFILER_ENTER_ARG, REG_PROFILER_LEAVE_ARG (dotnet/runtime, src/coreclr/jit/target*.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#if defined(__x86_64__)
	.text

	.macro	HOOK name, function, sp, to
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	sub	$128, %rsp
	and	$-16, %rsp
	movaps	%xmm0, (%rsp)
	movaps	%xmm1, 16(%rsp)
	movaps	%xmm2, 32(%rsp)
	movaps	%xmm3, 48(%rsp)
	movaps	%xmm4, 64(%rsp)
	movaps	%xmm5, 80(%rsp)
	movaps	%xmm6, 96(%rsp)
	movaps	%xmm7, 112(%rsp)
	.ifnc	\function, %rdi
	mov	\function, %rdi
	mov	\sp, %rsi
	.endif
	call	\to
	movaps	(%rsp), %xmm0
	movaps	16(%rsp), %xmm1
	movaps	32(%rsp), %xmm2
	movaps	48(%rsp), %xmm3
	movaps	64(%rsp), %xmm4
	movaps	80(%rsp), %xmm5
	movaps	96(%rsp), %xmm6
	movaps	112(%rsp), %xmm7
	lea	-72(%rbp), %rsp
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	HOOK	profiler_hook_enter, %r14, %r15, profiler_entered
	HOOK	profiler_hook_leave, %rdi, %rsi, profiler_left
	HOOK	profiler_hook_tail_call, %rdi, %rsi, profiler_left
#elif defined(__aarch64__)
	.text

	.macro	HOOK name, to
	.globl	\name
	.hidden	\name
	.type	\name, %function
	.p2align 4
\name:
	.cfi_startproc
	stp	x29, x30, [sp, #-288]!
	.cfi_def_cfa_offset 288
	.cfi_offset x29, -288
	.cfi_offset x30, -280
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	stp	x8, x9, [sp, #80]
	stp	x10, x11, [sp, #96]
	stp	x12, x13, [sp, #112]
	stp	x14, x15, [sp, #128]
	stp	q0, q1, [sp, #144]
	stp	q2, q3, [sp, #176]
	stp	q4, q5, [sp, #208]
	stp	q6, q7, [sp, #240]
	mov	x0, x10
	mov	x1, x11
	bl	\to
	ldp	q6, q7, [sp, #240]
	ldp	q4, q5, [sp, #208]
	ldp	q2, q3, [sp, #176]
	ldp	q0, q1, [sp, #144]
	ldp	x14, x15, [sp, #128]
	ldp	x12, x13, [sp, #112]
	ldp	x10, x11, [sp, #96]
	ldp	x8, x9, [sp, #80]
	ldp	x6, x7, [sp, #64]
	ldp	x4, x5, [sp, #48]
	ldp	x2, x3, [sp, #32]
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #288
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	HOOK	profiler_hook_enter, profiler_entered
	HOOK	profiler_hook_leave, profiler_left
	HOOK	profiler_hook_tail_call, profiler_left
#endif
	.section .note.GNU-stack, "", %progbits
