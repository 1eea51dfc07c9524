/* matrix.S - C = A * B of 16 by 16 doubles, each matrix in a page of its own.
 *
 * 7 + 16 * (1 + 16 * (4 + 16 * 5 + 4) + 3) + 3 instructions; 2 * 16 * 16 * 16 loads and 16 * 16 stores of 8 bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
	.equ N, 16
	.global _start
_start:
	adrp x0, a
	add x0, x0, :lo12:a
	adrp x1, b
	add x1, x1, :lo12:b
	adrp x2, c
	add x2, x2, :lo12:c
	mov x3, #0
rows:
	mov x4, #0
columns:
	add x5, x0, x3, lsl #7
	add x6, x1, x4, lsl #3
	fmov d2, xzr
	mov x7, #N
inner:
	ldr d0, [x5], #8
	ldr d1, [x6], #8 * N
	fmadd d2, d0, d1, d2
	subs x7, x7, #1
	b.ne inner
	str d2, [x2], #8
	add x4, x4, #1
	cmp x4, #N
	b.ne columns
	add x3, x3, #1
	cmp x3, #N
	b.ne rows
	mov x0, #0
	mov x8, #94
	svc #0

	.data
	.balign 4096
a:	.fill N * N, 8, 0x3ff0000000000000
	.balign 4096
b:	.fill N * N, 8, 0x4000000000000000
	.balign 4096
c:	.zero 8 * N * N
