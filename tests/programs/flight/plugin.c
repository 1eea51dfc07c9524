/* plugin.c - a library that calls.c loads. */
/* SPDX-License-Identifier: Apache-2.0 */
double plugged(double x);
double plugged(double x)
{
	return x * x;
}
