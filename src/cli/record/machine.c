/* machine.c - a whole machine as what is recorded: QEMU's options for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record/machine.h"

#include "base/bytes/bytes.h"
#include "cli/output/message.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For --kernel: a machine with a serial console on standard output, whose clock goes by instructions. The clock of the
 * host would go on while the machine is slowed down by being recorded, and interrupts would be most of the trace. Its
 * date and random numbers are the same each time: windows are chosen in one run, and recorded in another. */
static const char *const of_kernel[] = {"-M",          "virt",
                                        "-m",          "512",
                                        "-icount",     "shift=3,sleep=off",
                                        "-seed",       "1",
                                        "-rtc",        "base=2020-01-01,clock=vm",
                                        "-display",    "none",
                                        "-monitor",    "none",
                                        "-serial",     "stdio",
                                        "-nodefaults", "-no-reboot",
                                        "-append",     "console=ttyAMA0 nokaslr panic=-1"};
enum { OF_KERNEL = sizeof of_kernel / sizeof *of_kernel, MORE = 8 };

bool tw_machine_asked(const struct tw_record_options *options)
{
	return options->xtrace.system || options->xtrace.kernel;
}

/* ---- Checks. ---- */

/* "ARM\x64" at 56, by Linux's booting.rst for arm64; QEMU takes gzip, zboot images and ELF, too. */
static bool is_kernel(const uint8_t *head, size_t size)
{
	enum { MAGIC_AT = 56 };
	if (size < 64)
		return false;
	if (memcmp(head, ELFMAG, SELFMAG) == 0)
		return tw_load16(head + offsetof(Elf64_Ehdr, e_machine), false) == EM_AARCH64;
	return memcmp(head + MAGIC_AT, "ARM\x64", 4) == 0 || memcmp(head, "\x1f\x8b", 2) == 0 ||
	       memcmp(head + 4, "zimg", 4) == 0;
}

static int check_kernel(const char *path)
{
	uint8_t head[64];
	FILE *file = fopen(path, "rb");
	if (!file)
		return tw_say_error("%s: %s", path, strerror(errno));
	size_t size = fread(head, 1, sizeof head, file);
	fclose(file);
	return is_kernel(head, size) ? 0 : tw_say_error("%s: is no kernel for AArch64", path);
}

int tw_machine_check(const struct tw_record_options *options, size_t count)
{
	if (!options->xtrace.kernel && (options->xtrace.initrd || options->xtrace.smp))
		return tw_say_error("--%s is for --kernel; to a machine by QEMU's options give -%s",
		                    options->xtrace.initrd ? "initrd" : "smp",
		                    options->xtrace.initrd ? "initrd" : "smp");
	if (!tw_machine_asked(options))
		return 0;
	if (options->xtrace.sysroot)
		return tw_say_error("--sysroot is for a program, not for a whole machine");
	if (!options->xtrace.kernel && !count)
		return tw_say_error("record --system wants QEMU's options behind --, or --kernel");
	int status = options->xtrace.kernel ? check_kernel(options->xtrace.kernel) : 0;
	if (!status && options->xtrace.initrd && access(options->xtrace.initrd, R_OK) < 0)
		return tw_say_error("%s: %s", options->xtrace.initrd, strerror(errno));
	return status;
}

/* ---- Words. ---- */

static char *word(const char *text)
{
	return (char *)(uintptr_t)text; /* execv() does not change them */
}

static char **add_option(char **next, const char *name, const char *value)
{
	if (!value)
		return next;
	*next++ = word(name);
	*next++ = word(value);
	return next;
}

char **tw_machine_words(const struct tw_record_options *options, char **words, size_t count, size_t *all_count)
{
	static char number[24];
	char **all = calloc(count + OF_KERNEL + MORE, sizeof *all), **next = all;
	if (!all)
		return NULL;
	for (size_t i = 0; options->xtrace.kernel && i < OF_KERNEL; i++)
		*next++ = word(of_kernel[i]);
	snprintf(number, sizeof number, "%" PRIu64, options->xtrace.smp);
	next = add_option(next, "-kernel", options->xtrace.kernel);
	next = add_option(next, "-initrd", options->xtrace.initrd);
	next = add_option(next, "-smp", options->xtrace.smp ? number : NULL);
	memcpy(next, words, count * sizeof *words);
	*all_count = (size_t)(next - all) + count;
	return all;
}

const char *tw_machine_cpu(char **words, size_t count)
{
	const char *found = NULL;
	for (size_t i = 0; i + 1 < count; i++)
		if (strcmp(words[i], "-cpu") == 0 || strcmp(words[i], "--cpu") == 0)
			found = words[i + 1];
	return found;
}
