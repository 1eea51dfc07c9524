/* state.S - gives every register that a snapshot has a value of its own, then begins a trace. */
/* SPDX-License-Identifier: Apache-2.0 */
	.global _start
_start:
	ldr x0, =0x1122334455667788
	msr tpidr_el0, x0
	mov x0, #0x00c00000
	msr fpcr, x0
	mov x0, #0x08000000
	add x0, x0, #0x11
	msr fpsr, x0
	adrp x0, stack
	add x0, x0, :lo12:stack
	mov sp, x0
	mov x2, #0x8000000000000000
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	mov x0, #(0x500 + \n)
	add x1, x2, #(0x600 + \n)
	fmov d\n, x0
	mov v\n\().d[1], x1
	.endr
	mov x0, #0x90000000
	msr nzcv, x0
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	mov x\n, #(0x100 + \n)
	.endr
	hint #9
	nop
	hint #9
	mov x0, #0
	mov x8, #94
	svc #0

	.bss
	.balign 16
	.skip 256
stack:
	.skip 16
