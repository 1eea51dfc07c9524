/* test_kallsyms.c - the functions of a kernel by address: /proc/kallsyms and System.map. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <trackway/symbols.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "suite.h"

static int list = -1;

static int add(struct tw_symbols **symbols, const char *text)
{
	char path[32];
	assert_int_equal(tw_symbols_new(symbols), 0);
	assert_int_equal(ftruncate(list, 0), 0);
	assert_int_equal(pwrite(list, text, strlen(text), 0), (ssize_t)strlen(text));
	snprintf(path, sizeof path, "/proc/self/fd/%d", list);
	return tw_symbols_add_kallsyms(*symbols, path);
}

/* The name of an address, "" where there is none. */
static const char *name_at(struct tw_symbols *symbols, uint64_t address)
{
	const struct tw_namer *namer = tw_symbols_namer(symbols);
	struct tw_name name = {0};
	struct tw_range range;
	if (namer->address(namer->context, address, &name, &range) != 1)
		return "";
	assert_true(range.start <= address && address < range.end);
	return name.text;
}

static void names_addresses(void **state)
{
	(void)state;
	/* proc(5), nm(1); the aliases as Linux's scripts/kallsyms.c orders them. */
	static const char text[] = "ffff800008000000 T _text\n"
				   "ffff800008000000 t _head\n"
				   "ffff800008000400 W weak_alias\n"
				   "ffff800008000400 T __strong_alias\n"
				   "ffff800008000400 T _strong_alias\n"
				   "ffff800008000400 T _strong_second\n"
				   "ffff800008000500 t local\n"
				   "ffff800008000600 t $x\n"
				   "ffff800008000700 w only_weak\n"
				   "ffff800008000800 D data\n"
				   "ffff800008000900 t _RNvCs1_3abc3foo\n"
				   "ffff800008000980 t _ZN3abc3barEv\n"
				   "ffff800001000010 t nft_do_chain\t[nf_tables]\r\n"
				   "ffff800001000000 t ext4_get_inode\t[ext4]\n"
				   "ffff80000a000000 T last\n";
	static const struct {
		uint64_t address;
		const char *name;
	} wanted[] = {
	    {0xffff800007ffffff, ""},
	    {0xffff800008000000, "_text"},
	    {0xffff8000080003ff, "_text"},
	    {0xffff800008000400, "_strong_alias"},
	    {0xffff8000080005ff, "local"},
	    {0xffff800008000600, ""}, /* a mark is no function, and nothing knows how long the one before it is */
	    {0xffff800008000700, "only_weak"},
	    {0xffff800008000800, ""},
	    {0xffff800008000980, "abc::bar()"},
	    {0xffff800001000000, "ext4_get_inode [ext4]"},
	    {0xffff80000100000f, "ext4_get_inode [ext4]"},
	    {0xffff800001000010, "nft_do_chain [nf_tables]"},
	    {0xffff800001100010, ""}, /* more than a MiB behind it */
	    {0xffff80000a0fffff, "last"},
	    {0xffff80000a100000, ""},
	};
	struct tw_symbols *symbols;
	assert_int_equal(add(&symbols, text), 0);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		assert_string_equal(name_at(symbols, wanted[i].address), wanted[i].name);
	tw_symbols_close(symbols);
}

static void adds_to_what_is_there(void **state)
{
	(void)state;
	struct tw_symbols *symbols;
	assert_int_equal(add(&symbols, "2000 T second\n3000 D end\n"), 0);
	char path[32];
	assert_int_equal(ftruncate(list, 0), 0);
	assert_int_equal(pwrite(list, "1000 T first\n1100 D end", 23, 0), 23);
	snprintf(path, sizeof path, "/proc/self/fd/%d", list);
	assert_int_equal(tw_symbols_add_kallsyms(symbols, path), 0);
	assert_string_equal(name_at(symbols, 0x10ff), "first");
	assert_string_equal(name_at(symbols, 0x1100), "");
	assert_string_equal(name_at(symbols, 0x2000), "second");
	tw_symbols_close(symbols);
}

static void reports_what_is_wrong(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int status;
		const char *words;
	} cases[] = {
	    {"0000000000000000 T _text\n0000000000000000 t local\t[mod]\n", TW_ERR_VALUE, "kptr_restrict"},
	    {"ffff800008000000 D data\n", TW_ERR_FORMAT, "has no functions"},
	    {"", TW_ERR_FORMAT, "has no functions"},
	    {"ffff800008000000 T a\nffff800008000000 T\n", TW_ERR_FORMAT, "line 2: expected an address"},
	    {"ffff800008000000 T \n", TW_ERR_FORMAT, "line 1: expected an address"},
	    {"ffff800008000000 TT name\n", TW_ERR_FORMAT, "line 1: expected an address"},
	    {"T name\n", TW_ERR_FORMAT, "line 1: expected an address"},
	    {"00010000000000000 T name\n", TW_ERR_FORMAT, "line 1: expected an address"},
	    {"ffffffffffffffff T name\n", TW_ERR_FORMAT, "line 1: expected an address"},
	    {"-1 T name\n", TW_ERR_FORMAT, "line 1: expected an address"},
	    {"\x7f"
	     "ELF",
	     TW_ERR_FORMAT, "line 1: expected an address"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tw_symbols *symbols;
		assert_int_equal(add(&symbols, cases[i].text), cases[i].status);
		assert_non_null(strstr(tw_symbols_error(symbols), cases[i].words));
		tw_symbols_close(symbols);
	}
	struct tw_symbols *symbols;
	assert_int_equal(tw_symbols_new(&symbols), 0);
	assert_int_equal(tw_symbols_add_kallsyms(symbols, "/no/such/file"), TW_ERR_SYSTEM);
	assert_non_null(strstr(tw_symbols_error(symbols), "/no/such/file"));
	tw_symbols_close(symbols);
}

SUITE(kallsyms)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_addresses),
	    cmocka_unit_test(adds_to_what_is_there),
	    cmocka_unit_test(reports_what_is_wrong),
	};
	list = memfd_create("list", MFD_CLOEXEC);
	int failed = list < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
	close(list);
	return failed;
}
