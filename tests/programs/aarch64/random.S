/* random.S - a random number, which sets the flags: Z is clear behind it, and was set before. */
/* SPDX-License-Identifier: Apache-2.0 */
	.global _start
_start:
	mov x1, #100
1:	cmp x1, x1
	mrs x0, s3_3_c2_c4_0
	b.eq 2f
	subs x1, x1, #1
	b.ne 1b
	mov x0, #0
	b 3f
2:	mov x0, #1
3:	mov x8, #94
	svc #0
