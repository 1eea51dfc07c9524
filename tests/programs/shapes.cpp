/* shapes.cpp - C++ names and calls through tables; built twice, position-independent and not. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

namespace shapes {

struct shape {
	virtual unsigned long area() const = 0;
	virtual ~shape() = default;
};

struct square final : shape {
	unsigned long side;
	UNSEEN explicit square(unsigned long s) : side(s)
	{
	}
	NOINLINE unsigned long area() const override
	{
		CALLED("shapes::square::area() const");
		return side * side;
	}
};

struct rectangle final : shape {
	unsigned long width, height;
	UNSEEN rectangle(unsigned long w, unsigned long h) : width(w), height(h)
	{
	}
	NOINLINE unsigned long area() const override
	{
		CALLED("shapes::rectangle::area() const");
		return width * height;
	}
};

template <typename T> NOINLINE T larger(const T &a, const T &b)
{
	CALLED("unsigned long shapes::larger<unsigned long>(unsigned long const&, unsigned long const&)");
	sink = a;
	return a < b ? b : a;
}

NOINLINE static unsigned long total(const shape *const *all, int n)
{
	CALLED("shapes::total(shapes::shape const* const*, int)");
	unsigned long sum = 0, most = 0;
	for (int i = 0; i < n; i++) {
		sum += all[i]->area();
		most = larger<unsigned long>(most, sum);
	}
	return sum + most;
}

} // namespace shapes

extern "C" NOINLINE unsigned long plain_c(unsigned long n)
{
	CALLED("plain_c");
	sink = n;
	return n ^ 1;
}

int main()
{
	shapes::square a(3), b(5);
	shapes::rectangle c(2, 7);
	const shapes::shape *const all[] = {&a, &b, &c};

	start_recording("func_duration_threshold_us=0:buffer_size=16384:buffer_max=200");
	for (unsigned long i = 0; i < 500; i++)
		sink = shapes::total(all, 3) + plain_c(i);
	finish_recording();
}
