/* events.S - functions whose arguments reach the sled of an event from all registers, as clang has them: the orders of
 * moves that are wrong there, too. Beside them a sled that somebody has patched, and one that is none. */
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

	.macro	PLACE source, own
	.ifc	\source, \own
	.byte	0x0f, 0x1f, 0x40, 0x08
	.else
	push	%\own
	.endif
	.endm

	.macro	MOVE source, own
	.ifnc	\source, \own
	mov	%\source, %\own
	.endif
	.endm

	.macro	BACK source, own
	.ifc	\source, \own
	nop
	.else
	pop	%\own
	.endif
	.endm

/* The function keeps all registers that its caller needs, has marks where a red zone is, and returns whether all is as
 * before: 1. */
	.macro	BEGIN name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	.endm

	.macro	END name
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
	.size	\name, . - \name
	.endm

/* custom_A_B(data, size) */
	.macro	CUSTOM a, b
	BEGIN	custom_\a\()_\b
	push	%rdi
	push	%rsi
	pop	%\b
	pop	%\a
	movq	$0x5a5a, -128(%rsp)
	movq	$0x6b6b, -8(%rsp)
	stc
	.p2align 1
1:	.byte	0xeb, 15
	PLACE	\a, rdi
	PLACE	\b, rsi
	MOVE	\a, rdi
	MOVE	\b, rsi
	call	__xray_CustomEvent
	BACK	\b, rsi
	BACK	\a, rdi
	jnc	2f
	cmpq	$0x5a5a, -128(%rsp)
	jne	2f
	cmpq	$0x6b6b, -8(%rsp)
	jne	2f
	lea	(%\a, %\b), %rax
	jmp	3f
2:	xor	%eax, %eax
3:	END	custom_\a\()_\b
	ENTRY	1b, custom_\a\()_\b, 4
	.endm

/* typed_A_B_C(type, data, size) */
	.macro	TYPED a, b, c
	BEGIN	typed_\a\()_\b\()_\c
	push	%rdi
	push	%rsi
	push	%rdx
	pop	%\c
	pop	%\b
	pop	%\a
	movq	$0x5a5a, -128(%rsp)
	.p2align 1
1:	.byte	0xeb, 20
	PLACE	\a, rdi
	PLACE	\b, rsi
	PLACE	\c, rdx
	MOVE	\a, rdi
	MOVE	\b, rsi
	MOVE	\c, rdx
	call	__xray_TypedEvent
	BACK	\c, rdx
	BACK	\b, rsi
	BACK	\a, rdi
	lea	(%\b, %\c), %rax
	cmpq	$0x5a5a, -128(%rsp)
	je	3f
	xor	%eax, %eax
3:	END	typed_\a\()_\b\()_\c
	ENTRY	1b, typed_\a\()_\b\()_\c, 5
	.endm

	.text
	CUSTOM	rdi, rsi
	CUSTOM	rsi, rdi
	CUSTOM	rdi, rax
	CUSTOM	rcx, rsi
	CUSTOM	rbx, rbp
	CUSTOM	r8, r15
	CUSTOM	rsi, r12
	TYPED	rdi, rsi, rdx
	TYPED	rsi, rdx, rdi
	TYPED	rdx, rdi, rsi
	TYPED	rax, rcx, rbx
	TYPED	r9, r10, r11
	TYPED	rdi, rdx, rsi
	TYPED	r14, rdi, rbp

/* Patched by another: it calls, and does nothing. */
	.globl	foreign
	.type	foreign, @function
	.p2align 4
foreign:
	sub	$8, %rsp
	.p2align 1
1:	.byte	0x66, 0x90
	push	%rdi
	push	%rsi
	mov	%rax, %rdi
	mov	%rcx, %rsi
	call	__xray_CustomEvent
	pop	%rsi
	pop	%rdi
	add	$8, %rsp
	mov	$1, %eax
	ret
	.size	foreign, . - foreign
	ENTRY	1b, foreign, 4

/* A jump that goes elsewhere, as clang 14 writes some. */
	.globl	wrong
	.type	wrong, @function
	.p2align 4
wrong:
	.p2align 1
1:	.byte	0xeb, 18
	push	%rdi
	push	%rsi
	mov	%rax, %rdi
	mov	%rcx, %rsi
	mov	%rbp, %rax
	call	__xray_CustomEvent
	pop	%rsi
	pop	%rdi
	mov	$1, %eax
	ret
	.size	wrong, . - wrong
	ENTRY	1b, wrong, 4

	.weak	__xray_CustomEvent
	.weak	__xray_TypedEvent
__xray_CustomEvent:
__xray_TypedEvent:
	ret
	.section .note.GNU-stack, "", %progbits
