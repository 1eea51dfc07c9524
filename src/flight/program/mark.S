/* mark.S - the note of a program that has the recorder in it: a recorder that is given to it besides leaves it alone. */
/* SPDX-License-Identifier: Apache-2.0 */
	.section .note.trackway, "a", %note
	.p2align 2
	.long	9, 0, 1
	.asciz	"Trackway"
	.p2align 2
	.section .note.GNU-stack, "", %progbits
