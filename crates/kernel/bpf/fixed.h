/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers without floating point. Windows, alpha and probabilities have 32 binary places, times are whole nanoseconds. A
 * quotient is cut off at the last place, so each operation is less than 2^-32 off.
 */
#pragma once
#include "kernel.h"

#define PLACES 32
#define ONE (1ULL << PLACES)
/* Quotients stop here: no rate, share or window of PERT's is larger. */
#define LARGEST_QUOTIENT (ONE << 20)

static __always_inline __u64 least(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

static __always_inline __u64 most(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/* Gives a/b with 32 places; both are below 2^47. Sixteen places at a time, as 64 bits would overflow. */
static __always_inline __u64 quotient(__u64 a, __u64 b)
{
	__u64 upper, rest;

	if (!b || (a >> 20) >= b)
		return LARGEST_QUOTIENT;
	upper = (a << 16) / b;
	rest = (a << 16) % b;
	return (upper << 16) + (rest << 16) / b;
}

/* Gives value × share, for a share of at most 1 with 32 places. */
static __always_inline __u64 part(__u64 value, __u64 share)
{
	return (value >> PLACES) * share + (((value & (ONE - 1)) * share) >> PLACES);
}

static __always_inline __u64 floor_of(__u64 value)
{
	return value >> PLACES;
}
