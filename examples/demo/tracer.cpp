/* tracer.cpp - four threads draw a few mirror balls into the terminal, and every call is recorded. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <atomic>
#include <cmath>
#include <cstdio>
#include <pthread.h>

#define NOINLINE [[gnu::noinline]]
#define TINY [[gnu::always_inline, gnu::no_instrument_function]] static inline

namespace tracer {

constexpr int width = 96, height = 36, threads = 4, bounces = 4;

struct vec {
	double x, y, z;
};

TINY vec operator+(vec a, vec b)
{
	return {a.x + b.x, a.y + b.y, a.z + b.z};
}
TINY vec operator-(vec a, vec b)
{
	return {a.x - b.x, a.y - b.y, a.z - b.z};
}
TINY vec operator*(vec a, double k)
{
	return {a.x * k, a.y * k, a.z * k};
}
TINY double dot(vec a, vec b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

NOINLINE static vec normalize(vec a)
{
	return a * (1 / std::sqrt(dot(a, a)));
}

struct ball {
	vec center;
	double radius, brightness;

	/* Distance along the ray, negative for a miss. */
	NOINLINE double hit(vec from, vec ray) const
	{
		const vec to = from - center;
		const double b = dot(to, ray), d = b * b - dot(to, to) + radius * radius;
		return d < 0 ? -1 : -b - std::sqrt(d);
	}
};

static const ball balls[] = {
    {{0, 0, 6}, 1.6, 0.2},        {{2.4, 0.7, 5}, 0.8, 0.5}, {{-2.5, 0.4, 5.5}, 1, 0.4},
    {{0.8, -1.2, 3.6}, 0.4, 0.9}, {{-1, 1.3, 4}, 0.5, 0.7},  {{0, -103, 8}, 100, 0.1},
};

/* The slow part, as the flame graph shows: a rough sky, made anew for every ray that misses. */
NOINLINE static double noise(double x, double y)
{
	const double n = std::sin(x * 12.9898 + y * 78.233) * 43758.5453;
	return n - std::floor(n);
}

NOINLINE static double sky(vec ray)
{
	double light = 0.02 + 0.2 * (ray.y + 1) / 2;
	for (int octave = 1; octave <= 6; octave++)
		light += noise(std::floor(ray.x * 8 * octave), std::floor(ray.y * 8 * octave)) / (30 * octave);
	return light;
}

NOINLINE static const ball *nearest(vec from, vec ray, double *distance)
{
	const ball *found = nullptr;
	for (const ball &b : balls) {
		const double d = b.hit(from, ray);
		if (d > 1e-6 && (!found || d < *distance)) {
			found = &b;
			*distance = d;
		}
	}
	return found;
}

NOINLINE static double trace(vec from, vec ray, int depth);

NOINLINE static double shade(const ball &b, vec point, vec ray, int depth)
{
	const vec normal = normalize(point - b.center);
	const vec mirrored = ray - normal * (2 * dot(ray, normal));
	const double light = std::fmax(0, dot(normal, normalize(vec{-2, 4, -3})));
	return b.brightness * light + 0.6 * trace(point, mirrored, depth - 1);
}

NOINLINE static double trace(vec from, vec ray, int depth)
{
	double distance = 0;
	const ball *b = depth ? nearest(from, ray, &distance) : nullptr;
	return b ? shade(*b, from + ray * distance, ray, depth) : sky(ray);
}

NOINLINE static char pixel(int column, int row)
{
	static const char ramp[] = " .:-=+*#%@";
	const vec ray = normalize({(column - width / 2.0) / 36, (height / 2.0 - row) / 18, 1.6});
	const double light = trace({0, 0, 0}, ray, bounces);
	return ramp[static_cast<int>(std::fmin(9, light * 11))];
}

static char picture[height][width + 1];
static std::atomic<int> next_row;

NOINLINE static void draw_row(int row)
{
	for (int column = 0; column < width; column++)
		picture[row][column] = pixel(column, row);
}

NOINLINE static void *worker(void *)
{
	for (int row; (row = next_row++) < height;)
		draw_row(row);
	return nullptr;
}

} // namespace tracer

int main()
{
	pthread_t workers[tracer::threads];
	bool good = true;
	for (pthread_t &thread : workers)
		good = good && pthread_create(&thread, nullptr, tracer::worker, nullptr) == 0;
	for (pthread_t thread : workers)
		good = good && pthread_join(thread, nullptr) == 0;
	for (const char *row : tracer::picture)
		std::puts(row);
	return !good;
}
