// stacks.cs - allocations below frames of every kind: of changing size, in handlers, behind Mono's own functions.
// SPDX-License-Identifier: Apache-2.0
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Threading;

class First { public static object Kept = Stacks.Make(1); }
class Second<T> { public static object Kept = Stacks.Make(1); }

class Stacks
{
    static object last;

    public static object Make(int count)
    {
        for (int i = 0; i < count; i++)
            last = new object();
        return last;
    }

    static unsafe int OnTheStack(int size, int depth)
    {
        int sum = 0;
        if (size > 0) {
            byte* bytes = stackalloc byte[size];
            for (int i = 0; i < size; i++)
                bytes[i] = (byte)i;
            sum = bytes[size - 1];
        }
        Make(1);
        return depth == 0 ? sum : sum + OnTheStack(size / 2, depth - 1);
    }

    struct Large { public long a, b, c, d, e, f, g, h; }
    struct Larger { public Large a, b, c, d, e, f, g, h; }
    struct Largest { public Larger a, b, c, d, e, f, g, h; }

    static long Wide(int depth)
    {
        var all = new Largest();
        all.a.b.c = depth;
        Make(1);
        return depth == 0 ? 0 : all.a.b.c + Wide(depth - 1);
    }

    static void InHandlers(int depth, bool throws)
    {
        try {
            try {
                Make(1);
                if (depth > 0)
                    InHandlers(depth - 1, throws);
                else if (throws)
                    throw new InvalidOperationException("deep");
            } catch (InvalidOperationException) when (Make(1) == null) {
            } finally {
                Make(1);
                OnTheStack(depth, 1);
            }
        } catch (InvalidOperationException) {
            Make(1);
            if (depth % 2 == 0)
                throw;
        }
    }

    static object Reflected(int depth)
    {
        Make(1);
        if (depth == 0)
            return Activator.CreateInstance(typeof(List<int>));
        return typeof(Stacks).GetMethod("Reflected", BindingFlags.NonPublic | BindingFlags.Static).Invoke(null, new object[] {depth - 1});
    }

    static T Generic<T>(T value, int depth)
    {
        Make(1);
        return depth == 0 ? value : Generic(Tuple.Create(value, value), depth - 1).Item1;
    }

    static IEnumerable<int> Numbers(int count)
    {
        for (int i = 0; i < count; i++) {
            Make(1);
            yield return i;
        }
    }

    static void All(int round)
    {
        OnTheStack(round * 37 % 500, 5);
        OnTheStack(0, 3);
        Wide(round % 4);
        try {
            InHandlers(round % 5, round % 3 == 0);
        } catch (InvalidOperationException) {
            Make(1);
        }
        Reflected(round % 4);
        Generic("text", 2);
        Generic(round, 2);
        Array.Sort(Numbers(20).ToArray(), (a, b) => { Make(1); return b - a; });
        string.Join(",", Numbers(5).Select(number => number.ToString()).OrderBy(text => text));
        Delegate each = new Func<int, object>(Make);
        each.DynamicInvoke(2);
        GC.KeepAlive(string.Format("{0} {1}", round, new DateTime(round)));
    }

    static void Run()
    {
        for (int round = 0; round < 60; round++)
            All(round);
    }

    static void Main()
    {
        GC.KeepAlive(First.Kept);
        GC.KeepAlive(Second<int>.Kept);
        GC.KeepAlive(Second<string>.Kept);
        var threads = Enumerable.Range(0, 3).Select(i => new Thread(Run)).ToList();
        threads.ForEach(thread => thread.Start());
        Run();
        threads.ForEach(thread => thread.Join());
        Console.WriteLine("done");
    }
}
