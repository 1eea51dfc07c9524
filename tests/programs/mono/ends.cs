// ends.cs - 3,200 threads that end soon, eight at a time.
// SPDX-License-Identifier: Apache-2.0
using System.Threading;

public static class Ends
{
    static void Work()
    {
        int sum = 0;
        for (int i = 0; i < 20000; i++)
            sum += i;
    }

    public static void Main()
    {
        for (int round = 0; round < 400; round++) {
            var threads = new Thread[8];
            for (int i = 0; i < threads.Length; i++)
                (threads[i] = new Thread(Work)).Start();
            foreach (var thread in threads)
                thread.Join();
        }
    }
}
