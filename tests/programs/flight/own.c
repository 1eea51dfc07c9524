/* own.c - a program with hooks of its own, which none of another replaces. */
/* SPDX-License-Identifier: Apache-2.0 */
#define PLAIN __attribute__((no_instrument_function))

static volatile int calls;

void __cyg_profile_func_enter(void *function, void *site) PLAIN;
void __cyg_profile_func_exit(void *function, void *site) PLAIN;

void __cyg_profile_func_enter(void *function, void *site)
{
	(void)function;
	(void)site;
	calls++;
}

void __cyg_profile_func_exit(void *function, void *site)
{
	(void)function;
	(void)site;
}

int main(void)
{
	return calls != 1;
}
