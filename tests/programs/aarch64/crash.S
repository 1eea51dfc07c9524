/* crash.S - a thousand rounds, then a load from nowhere. */
/* SPDX-License-Identifier: Apache-2.0 */
	.global _start
_start:
	mov x0, #1000
1:	stp x0, xzr, [sp, #-16]
	subs x0, x0, #1
	b.ne 1b
	mov x1, #16
	add x2, x1, #1
	ldr x3, [x1]
	add x4, x3, #1
