/* scalable_changes.S - vectors of 256 bits become vectors of 128; SMSTART and SMSTOP. */
/* SPDX-License-Identifier: Apache-2.0 */
	.arch armv8-a+sve
	.text
	.global _start
_start:
	adrp x19, data
	add x19, x19, :lo12:data
	ldr z0, [x19]
	/* prctl(PR_SVE_SET_VL, 16) */
	mov x8, #167
	mov x0, #50
	mov x1, #16
	svc #0
	ldr z0, [x19, #1, mul vl]
#ifdef MATRIX
	.inst 0xd503477f /* smstart */
	.inst 0xd503467f /* smstop */
#endif
	b last
last:
	mov x8, #94
	mov x0, #0
	svc #0

	.data
	.balign 4096
data:
	.space 64, 7
