// domains.cs - runs programs in domains of their own, one after the other, and unloads them: four times each.
// SPDX-License-Identifier: Apache-2.0
using System;

class Domains
{
    static void Main(string[] programs)
    {
        for (int round = 0; round < 4; round++)
            foreach (string program in programs) {
                AppDomain domain = AppDomain.CreateDomain(program);
                domain.ExecuteAssembly(program);
                AppDomain.Unload(domain);
            }
        Console.WriteLine("unloaded");
    }
}
