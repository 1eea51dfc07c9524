// truth.cs - a program whose truth is known: what it makes and asks for is counted here. It runs inside of another one,
// before that begins (DOTNET_STARTUP_HOOKS), and ends as TRUTH says.
// SPDX-License-Identifier: Apache-2.0
using System;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Threading;

class Marker { public long First = 1, Second = 2; }
class Kept { public object Other; }

static class Truth {
	// What ends a program past the runtime. SYS_fork is x86-64's: no handler of pthread_atfork() runs.
	[DllImport("libc")] static extern void abort();
	[DllImport("libc")] static extern void _exit(int status);
	[DllImport("libc")] static extern IntPtr strlen(IntPtr text);
	[DllImport("libc")] static extern int fork();
	[DllImport("libc")] static extern long syscall(long number);
	[DllImport("libc")] static extern int waitpid(int pid, IntPtr status, int options);

	static object last;
	static readonly Kept[] kept = new Kept[321];

	// 1,000 of the main thread, 50 in each of 4 others: 1,200. One by one with other classes between, or not.
	static void MakeMarkers(int count) {
		for (int i = 0; i < count; i++)
			last = new Marker();
	}

	static void MakeArrays(int count) {
		for (int i = 0; i < count; i++)
			last = new Marker[2, 3];
	}

	// 2,000,000 of 24 bytes in one function, 40 of 1,000,024 bytes in another.
	static void MakeSmall() {
		for (int i = 0; i < 2000000; i++)
			last = new object();
	}
	static void MakeLarge() {
		for (int i = 0; i < 40; i++)
			last = new byte[1000000];
	}

	// The number of the last collection of a kind (GCKind). Mono's own libraries do not have it.
	static long LastOf(int kind) {
		foreach (var method in typeof(GC).GetMethods())
			if (method.Name == "GetGCMemoryInfo" && method.GetParameters().Length == 1) {
				object value = Enum.ToObject(method.GetParameters()[0].ParameterType, kind);
				object info = method.Invoke(null, new object[] {value});
				return (long)info.GetType().GetProperty("Index").GetValue(info);
			}
		return 0;
	}

	// Six that may be in the background are asked for, one after the other; the runtime decides, and says how many were.
	class Node { public Node Left, Right; }
	static Node Tree(int depth) {
		return depth == 0 ? null : new Node {Left = Tree(depth - 1), Right = Tree(depth - 1)};
	}
	static void CollectInBackground() {
		const int blocking = 2, background = 3;
		var counts = new int[4];
		Node tree = Tree(17);
		for (int i = 0; i < 6; i++) {
			long others = LastOf(blocking), before = LastOf(background);
			GC.Collect(2, GCCollectionMode.Forced, false);
			while (LastOf(background) == before && LastOf(blocking) == others)
				Thread.Sleep(1);
			counts[LastOf(background) == before ? blocking : background]++;
		}
		GC.KeepAlive(tree);
		Console.WriteLine("collected {0} and {1}", counts[blocking], counts[background]);
	}

	static void Keep() {
		for (int i = 0; i < kept.Length; i++)
			kept[i] = new Kept();
	}

	static int Busy(int ms) {
		int rounds = 0;
		for (var clock = Stopwatch.StartNew(); clock.ElapsedMilliseconds < ms;)
			rounds++;
		return rounds;
	}

	static void Collect() {
		for (int i = 0; i < 3; i++)
			GC.Collect();
	}

	// 10 markers, 200 after a line of input, 77 after another one.
	static void Wait() {
		MakeMarkers(10);
		Console.WriteLine("pid {0}", Process.GetCurrentProcess().Id);
		Console.ReadLine();
		MakeMarkers(200);
		Console.WriteLine("made");
		Console.ReadLine();
		MakeMarkers(77);
	}

	// Children allocate, too, and call; both end without a word.
	static void Fork(bool plain) {
		const int sysFork = 57;
		int child = plain ? (int)syscall(sysFork) : fork();
		if (child == 0) {
			MakeMarkers(100);
			_exit(0);
		}
		waitpid(child, IntPtr.Zero, 0);
		Console.WriteLine("child {0}", child);
	}

	internal static void Run() {
		string how = Environment.GetEnvironmentVariable("TRUTH") ?? "";
		if (how == "wait") {
			Wait();
			return;
		}
		if (how == "calls")
			Calls.Run();
		if (how == "much") {
			MakeSmall();
			MakeLarge();
		}
		if (how == "background")
			CollectInBackground();
		MakeMarkers(1000);
		MakeArrays(500);
		for (int i = 0; i < 4; i++) {
			var thread = new Thread(() => MakeMarkers(50));
			thread.Start();
			thread.Join();
		}
		Keep();
		Collect();
		if (how == "busy")
			Busy(800);
		Console.WriteLine("made {0}", kept.Length);
		if (how == "fork") {
			Fork(false);
			Fork(true);
		}
		if (how == "exit")
			Environment.Exit(3);
		if (how == "_exit")
			_exit(5);
		if (how == "abort")
			abort();
		if (how == "fault")
			strlen((IntPtr)1);
		if (how == "fail")
			Environment.FailFast("asked for");
		if (how == "throw")
			throw new InvalidOperationException("asked for");
		if (how == "kill")
			Process.GetCurrentProcess().Kill();
	}
}

class StartupHook {
	public static void Initialize() { Truth.Run(); }
}
