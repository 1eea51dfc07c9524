/* own_returns.c - a program with __fentry__ and __return__ of its own, which none of another replaces. */
/* SPDX-License-Identifier: Apache-2.0 */
__asm__(".text\n"
        ".globl __fentry__\n"
        "__fentry__: ret\n"
        ".globl __return__\n"
        "__return__: ret\n");

int main(void)
{
	return 0;
}
