/* words.c - words of names: primitive types, and the letters of type arguments. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

/* By element type. Source: ECMA-335, II.23.1.16. */
const struct profiler_primitive profiler_primitives[PROFILER_PRIMITIVES] = {
    [0x01] = {"void", "System.Void"},
    [0x02] = {"bool", "System.Boolean"},
    [0x03] = {"char", "System.Char"},
    [0x04] = {"sbyte", "System.SByte"},
    [0x05] = {"byte", "System.Byte"},
    [0x06] = {"short", "System.Int16"},
    [0x07] = {"ushort", "System.UInt16"},
    [0x08] = {"int", "System.Int32"},
    [0x09] = {"uint", "System.UInt32"},
    [0x0a] = {"long", "System.Int64"},
    [0x0b] = {"ulong", "System.UInt64"},
    [0x0c] = {"float", "System.Single"},
    [0x0d] = {"double", "System.Double"},
    [0x0e] = {"string", "System.String"},
    [0x16] = {"System.TypedReference", "System.TypedReference"},
    [0x18] = {"System.IntPtr", "System.IntPtr"},
    [0x19] = {"System.UIntPtr", "System.UIntPtr"},
    [0x1c] = {"object", "System.Object"},
};

/* Of types T to Z, then T7; of methods M to S, then M7. */
const char profiler_type_letters[] = "TUVWXYZ", profiler_method_letters[] = "MNOPQRS";

void profiler_add_parameter(struct text *text, const char *letters, uint64_t number)
{
	enum { LETTERS = sizeof profiler_type_letters - 1 };
	text_char(text, letters[number < LETTERS ? number : 0]);
	if (number >= LETTERS)
		text_decimal(text, number);
}
