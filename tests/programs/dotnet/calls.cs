// calls.cs - calls that are counted here: one by one, nested, as deep as it goes, left by exceptions, as the last thing that a
// function does, in several threads. dotnet_tests.py has the same numbers.
// SPDX-License-Identifier: Apache-2.0
using System;
using System.Threading;

static class Calls {
	static int done;

	// 3,000 of Outer, which calls Leaf 2 times: 6,000.
	static void Leaf() { done++; }
	static void Outer() { Leaf(); Leaf(); }

	// 21,891 calls: 2 * fib(21) - 1.
	static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }

	// 40 times 7 of Dig; each time Catch goes on with one call of After.
	static void Dig(int depth) {
		if (depth == 0)
			throw new InvalidOperationException();
		try {
			Dig(depth - 1);
		} finally {
			Clean();
		}
	}
	static void Clean() { done++; }
	static void After() { done++; }
	static void Catch() {
		try {
			Dig(6);
		} catch (InvalidOperationException) {
			After();
		}
	}

	// Last is called by Next in its own place, where the runtime optimizes.
	static int Last(int n) { return n + done; }
	static int Next(int n) { return Last(n + 1); }
	static int First(int n) { return Next(n) + 1; }

	// What they are given, and give back: all that may be in registers is as it was.
	struct Pair { public long A; public double B; }
	static Pair Many(int a, long b, double c, float d, long e, int f, long g, double h, double i, double j) {
		return new Pair {A = a + b + e + f + g, B = c + d + h + i + j};
	}

	internal static void Run() {
		long sum = 0;
		for (int i = 0; i < 3000; i++)
			Outer();
		int fib = Fib(20);
		for (int i = 0; i < 40; i++)
			Catch();
		for (int i = 0; i < 500; i++)
			sum += First(i);
		Pair pair = new Pair();
		for (int i = 0; i < 1000; i++)
			pair = Many(1, 20, 0.5, 0.25f, 300, 4000, 50000, 2.0, 8.0, 16.0);
		for (int i = 0; i < 3; i++) {
			var thread = new Thread(() => Fib(10));
			thread.Start();
			thread.Join();
		}
		Console.WriteLine("{0} {1} {2} {3} {4}", fib, done, sum > 0, pair.A, pair.B == 26.75);
	}
}
