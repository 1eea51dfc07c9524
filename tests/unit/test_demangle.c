/* test_demangle.c - names of symbols as their languages have them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite.h"

static void demangles_like_the_abi(void **state)
{
	(void)state;
	/* Results: c++filt, GNU binutils. */
	static const struct {
		const char *symbol, *name;
	} cases[] = {
	    {"_Z1fv", "f()"},
	    {"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)"},
	    {"_ZZ4mainENK3$_1clEi", "main::$_1::operator()(int) const"},
	    {"_ZN12_GLOBAL__N_16hiddenEi", "(anonymous namespace)::hidden(int)"},
	    {"_Z3sumIJilcEEiDpT_", "int sum<int, long, char>(int, long, char)"},
	    {"_Z1fILm4294967296EEvv", "void f<4294967296ul>()"},
	    {"_ZSt8__invokeIPFvvEJEENSt15__invoke_resultIT_JDpT0_EE4typeEOS3_DpOS4_",
	     "std::__invoke_result<void (*)()>::type std::__invoke<void (*)()>(void (*&&)())"},
	    {"_ZSt11make_sharedI3FooJiEESt10shared_ptrINSt9enable_ifIXntsr8is_arrayIT_EE5valueES3_E4typeEEDpOT0_",
	     "std::shared_ptr<std::enable_if<!is_array<Foo>::value, Foo>::type> std::make_shared<Foo, int>(int&&)"},
	    {"main", NULL},
	    {"i", NULL}, /* a type to the demangler, a function here */
	    {"_Zbroken", NULL},
	    {"_Z", NULL},
	    {"", NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t budget = 1 << 20;
		char *name = tw_demangle(cases[i].symbol, &budget);
		if (cases[i].name)
			assert_string_equal(name, cases[i].name);
		else
			assert_null(name);
		free(name);
	}
}

/* Results: llvm-cxxfilt 14, which drops hashes of crates; of D, whose names it has not, "Name Mangling" of the language's
 * specification. */
static void demangles_rust_and_d(void **state)
{
	static const struct {
		const char *symbol, *name;
	} cases[] = {
	    {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
	    {"_RNvXCs1234_7mycrateNtB2_3BarNtB2_3Qux3baz", "<mycrate::Bar as mycrate::Qux>::baz"},
	    {"_RINvCs1234_7mycrate3genhE", "mycrate::gen::<u8>"},
	    {"_RNvMCs4fqI2P2rA04_13const_genericINtB0_4TestKj4_E3new", NULL},
	    {"_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>"},
	    {"_RNvNtNtC7mycrate3foo3bar3baz", "mycrate::foo::bar::baz"},
	    {"_RNCNvC7mycrate3foo0", "mycrate::foo::{closure#0}"},
	    {"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"},
	    {"_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_",
	     "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::<core::slice::memchr::memrchr::{closure#1}>::{closure#0}"},
	    {"_RNSC7mycrate4shim0", NULL},
	    {"_RINvC7mycrate3fooReE", "mycrate::foo::<&str>"},
	    {"_RINvC7mycrate3fooQTlhEE", "mycrate::foo::<&mut (i32, u8)>"},
	    {"_RINvC7mycrate3fooFUKCEuE", "mycrate::foo::<unsafe extern \"C\" fn()>"},
	    {"_RINvC7mycrate3fooFG_RL0_hEuE", "mycrate::foo::<for<'a> fn(&'a u8)>"},
	    {"_RINvC7mycrate3fooDNtC3std5TraitEL_E", "mycrate::foo::<dyn std::Trait>"},
	    {"_RINvC7mycrate3fooDINtC3std8IteratorlEp4ItemhEL_E", "mycrate::foo::<dyn std::Iterator<i32, Item = u8>>"},
	    {"_RINvC7mycrate3fooAhj4_E", "mycrate::foo::<[u8; 4]>"},
	    {"_RINvC7mycrate3fooKb1_E", "mycrate::foo::<true>"},
	    {"_RINvC7mycrate3fooKan80_Kc41_E", "mycrate::foo::<-128, 'A'>"},
	    {"_RINvC7mycrate3fooPOlE", "mycrate::foo::<*const *mut i32>"},
	    {"_RINvC7mycrate3fooTlEE", "mycrate::foo::<(i32,)>"},
	    {"_RINvC7mycrate3fooSeE", "mycrate::foo::<[str]>"},
	    {"_RYNtC1a1bNtC1c1d", "<a::b as c::d>"},
	    {"_RNvYlNtC1c1d1e", "<i32 as c::d>::e"},
	    {"_RNvC1a1b.llvm.123", "a::b"},
	    {"_R", NULL},
	    {"_RNvC1a", NULL},
	    {"_RC0", NULL}, /* a name without letters */
	    {"_RB_", NULL},
	    {"_RNvB_1a", NULL},
	    {"_RNvC9999999999999999999a1b", NULL},
	    {"_RNvC1au3gcda", NULL},
	    {"_RIC1aB1_E", NULL},
	    {"_RINvC7mycrate3fooTTTTEEEEE", "mycrate::foo::<((((),),),)>"},
	    {"_RINvC7mycrate3fooKj7b_E", "mycrate::foo::<123>"},
	    {"_RNvNvMs_C1aNtB6_1b1c1d", "<a::b>::c::d"},
	    {"_D3app4mainFAAyaZi", "app.main"},
	    {"_D3std5stdio__T7writelnTAyaZQnFNfQjZv", "std.stdio.writeln!(immutable(char)[]).writeln"},
	    {"_D3std5stdio__T7writelnTAyaTiZQpFNfQliZv", "std.stdio.writeln!(immutable(char)[], int).writeln"},
	    {"_D4core6memory2GC6enableFNbZv", "core.memory.GC.enable"},
	    {"_Dmain", "D main"},
	    /* names by binutils' c++filt, without parameters but in arguments of templates */
	    {"_D3app5outerFZ5innerMFZv", "app.outer.inner"},
	    {"_D3foo3Bar6__ctorMFiZCQuQs", "foo.Bar.this"},
	    {"_D3foo3Bar6__dtorMFZv", "foo.Bar.~this"},
	    {"_D8demangle9__T4testZ1iFZv", "demangle.test!().i"},
	    {"_D4core8internal5array8equality__T8__equalsTxaTxaZQqFNaNbNiNeMxAaMxQeZb",
	     "core.internal.array.equality.__equals!(const(char), const(char)).__equals"},
	    {"_D8demangle__T4testVAyaa3_616263ZQtFZv", "demangle.test!(\"abc\").test"},
	    {"_D8demangle__T4testViN1ZQkFZv", "demangle.test!(-1).test"},
	    {"_D8demangle__T4testVbi1ZQkFZv", "demangle.test!(true).test"},
	    {"_D8demangle__T4testVmi7ZQkFZv", "demangle.test!(7uL).test"},
	    {"_D8demangle__T4testVai65ZQlFZv", "demangle.test!('A').test"},
	    {"_D8demangle__T4testVde0A8P6ZQoFZv", "demangle.test!(0x0.A8p6).test"},
	    {"_D8demangle__T4testVHiiA2i1i2i3i4ZQuFZv", "demangle.test!([1:2, 3:4]).test"},
	    {"_D8demangle__T4testVS3foo3BarS2i1nZQvFZv", "demangle.test!(foo.Bar(1, null)).test"},
	    {"_D8demangle__T4testTHiAyaZQmFZv", "demangle.test!(immutable(char)[][int]).test"},
	    {"_D8demangle__T4testTG5xiZQlFZv", "demangle.test!(const(int)[5]).test"},
	    {"_D8demangle__T4testSQs3fooZQnFZv", "demangle.test!(demangle.foo).test"},
	    {"_D8demangle__T4testTC3foo3BarZQqFZv", "demangle.test!(foo.Bar).test"},
	    /* as D writes these types, which c++filt has in another order */
	    {"_D8demangle__T4testTPUiZvZQmFZv", "demangle.test!(extern(C) void function(int)).test"},
	    {"_D8demangle__T4testTDFNaNbZaZQpFZv", "demangle.test!(char delegate() pure nothrow).test"},
	    /* variables, references to nowhere and to themselves, what is cut */
	    {"_D3app1xi", NULL},
	    {"_D1aQzFZv", NULL},
	    {"_D1aFQaZv", NULL},
	    {"_D1aFQbZv", NULL},
	    {"_D1aFPQbZv", NULL},
	    {"_D8demangle__T4testTPQbZQkFZv", NULL},
	    {"_D8demangle__T4testTi", NULL},
	    {"_D8demangle__T4testVAyaa9_61ZQtFZv", NULL},
	    {"_D8demangle4testFaZv", "demangle.test"},
	    {"_D3foo", NULL},
	    {"_D99foo", NULL},
	    {"_D1aMFZv", "a"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t budget = 1 << 20;
		char *name = tw_demangle(cases[i].symbol, &budget);
		if (cases[i].name)
			assert_string_equal(name, cases[i].name);
		else
			assert_null(name);
		free(name);
	}
}

/* Each argument of a template refers to the one before, twice: each is more than double that. */
static void d_does_not_expand_without_bound(void **state)
{
	(void)state;
	char symbol[2048] = "_D1a__T1bTHiiTHQfQh";
	size_t budget = SIZE_MAX;
	strcat(symbol, "Z1cFZv");
	char *name = tw_demangle(symbol, &budget);
	assert_string_equal(name, "a.b!(int[int], int[int][int[int]]).c");
	free(name);
	symbol[strlen("_D1a__T1bTHiiTHQfQh")] = '\0';
	for (size_t i = 0; i < 60; i++)
		strcat(symbol, "THQhQj");
	strcat(symbol, "Z1cFZv");
	budget = SIZE_MAX;
	assert_null(tw_demangle(symbol, &budget));
	assert_true(budget == SIZE_MAX);
}

/* pair<pair<..>, pair<..>>, each level twice the one before: 16 levels give 4 MB, 30 would give 64 GB. */
static void does_not_expand_without_bound(void **state)
{
	(void)state;
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char symbol[1024] = "_Z1fSt4pairIiiE";
	for (size_t i = 0; i < 30; i++) {
		size_t number = 2 * i;
		const char reference[] = {'S', number < 36 ? '0' : '1', digits[number % 36], '_', '\0'};
		char level[32];
		snprintf(level, sizeof level, "St4pairI%s%sE", reference, reference);
		strcat(symbol, level);
	}
	size_t budget = SIZE_MAX;
	assert_null(tw_demangle(symbol, &budget));
	assert_true(budget == SIZE_MAX);
	symbol[strlen("_Z1fSt4pairIiiESt4pairIS00_S00_E")] = '\0';
	char *name = tw_demangle(symbol, &budget);
	assert_string_equal(name, "f(std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<int, int> >)");
	free(name);
}

/* Symbols that no compiler writes, at which libstdc++'s demangler stays for ever. Binutils' c++filt refuses them. */
static void does_not_stay_for_ever(void **state)
{
	(void)state;
	static const char *const endless[] = {
	    "_Z1fIXsr1aDE",   "_Z1fIXsr1aCxE",  "_Z1fIXsr1aUxE",    "_Z1fIXsrUxE",       "_Z1fDTsr1aDxE",
	    "_Z1fIXsr1a1bDE", "_Z1fIXgssr1aDE", "_Z1fIXsr1aIiEDxE", "_Z1fIXsr1aIXEEDxE", "_Z1fIXsr9aDxE1bEDx",
	};
	for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
		size_t budget = SIZE_MAX;
		assert_null(tw_demangle(endless[i], &budget));
	}
}

static void stops_when_the_budget_is_spent(void **state)
{
	(void)state;
	size_t budget = 5;
	char *name = tw_demangle("_Z5helloi", &budget);
	assert_string_equal(name, "hello(int)");
	free(name);
	assert_int_equal(budget, 0);
	assert_null(tw_demangle("_Z5helloi", &budget));
	static char longest[8192] = "_Z8000";
	memset(longest + 6, 'a', 8000);
	budget = SIZE_MAX;
	assert_null(tw_demangle(longest, &budget));
}

SUITE(demangle)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(demangles_like_the_abi),          cmocka_unit_test(demangles_rust_and_d),
	    cmocka_unit_test(d_does_not_expand_without_bound), cmocka_unit_test(does_not_expand_without_bound),
	    cmocka_unit_test(does_not_stay_for_ever),          cmocka_unit_test(stops_when_the_budget_is_spent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
