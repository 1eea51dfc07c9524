/* names.cpp - calls of functions with names of many kinds, each as often as its number says. */
/* SPDX-License-Identifier: Apache-2.0 */
#define HERE __attribute__((noinline))

static volatile int sink;

namespace outer {
namespace {
HERE void hidden3(int i)
{
	sink = sink + i;
}
} // namespace

namespace inner {
template <typename T> HERE void templated4(T value)
{
	sink = sink + static_cast<int>(value);
}
template <int N, typename... T> HERE void many5(T...)
{
	sink = sink + N;
}
} // namespace inner

struct thing {
	HERE thing()
	{
		sink = sink + 1;
	}
	HERE ~thing()
	{
		sink = sink + 1;
	}
	HERE thing &operator++()
	{
		sink = sink + 1;
		return *this;
	}
	HERE void method2(const thing &other) const
	{
		sink = sink + (this == &other);
	}
};
} // namespace outer

HERE static void local6()
{
	sink = sink + 1;
}

extern "C" HERE void plain7()
{
	struct within {
		HERE static void local8()
		{
			sink = sink + 1;
		}
	};
	local6();
	within::local8();
}

int main(int count, char **)
{
	outer::thing thing;
	for (int i = 0; i < 7; i++) {
		if (i < 2)
			thing.method2(thing);
		if (i < 3)
			outer::hidden3(i);
		if (i < 4)
			outer::inner::templated4(2.5 + count);
		if (i < 5)
			outer::inner::many5<-1, outer::thing *, const char *>(&thing, "");
		plain7();
		++thing;
	}
	return 0;
}
