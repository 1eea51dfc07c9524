// main.cs - tests/programs/dotnet as a program of Mono, with names that are made of others, and with other ways to end.
// SPDX-License-Identifier: Apache-2.0
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

class Outer<A> {
	public class Inner<B> {
		[MethodImpl(MethodImplOptions.NoInlining)]
		public static B Second<C>(A a, B b, C[] c, ref int number) { number++; return b; }
	}
}

static class Shared {
	[DllImport("libc")] static extern void abort();

	static void Name() {
		int number = 1;
		Outer<string>.Inner<int>.Second<Dictionary<string, List<int>>>("", 1, null, ref number);
	}

	// 8 threads that compute, allocate and collect at once.
	static void Stress() {
		var threads = new Thread[8];
		for (int i = 0; i < threads.Length; i++) {
			threads[i] = new Thread(() => {
				var list = new List<object>();
				for (int n = 0; n < 20000; n++) {
					list.Add(new Kept());
					if (n % 5000 == 0)
						GC.Collect();
				}
			});
			threads[i].Start();
		}
		foreach (Thread thread in threads)
			thread.Join();
		Console.WriteLine("stress");
	}

	static void Main() {
		string how = Environment.GetEnvironmentVariable("TRUTH") ?? "";
		Name();
		if (how == "stress")
			Stress();
		StartupHook.Initialize();
		if (how == "abort")
			abort();
	}
}
