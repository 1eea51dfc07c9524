/* list.S - a list of 96 nodes, each in a line of 64 bytes of its own, walked eight times. Every fifth node follows.
 *
 * 3 + 8 * (1 + 96 * 3 + 2) + 3 instructions; 8 * 96 loads of 8 bytes. Between two visits of a node are the 95 others. */
/* SPDX-License-Identifier: Apache-2.0 */
	.equ NODES, 96
	.equ ROUNDS, 8
	.global _start
_start:
	adrp x0, nodes
	add x0, x0, :lo12:nodes
	mov x2, #ROUNDS
round:
	mov x1, #NODES
step:
	ldr x0, [x0]
	subs x1, x1, #1
	b.ne step
	subs x2, x2, #1
	b.ne round
	mov x0, #0
	mov x8, #94
	svc #0

	.data
	.balign 4096
nodes:
	.set i, 0
	.rept NODES
	.xword nodes + 64 * ((i + 5) % NODES)
	.zero 56
	.set i, i + 1
	.endr
