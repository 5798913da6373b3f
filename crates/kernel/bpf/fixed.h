/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fixed-point arithmetic: eBPF has no floating point. Windows, alpha and probabilities have 32 fractional bits; times are whole
 * nanoseconds. Quotients are truncated, so that the error of an operation is below 2^-32.
 */
#pragma once
#include "kernel.h"

#define FRAC_BITS 32
#define ONE (1ULL << FRAC_BITS)
/* Quotients saturate here: no rate, share or window of PERT is larger. */
#define MAX_QUOTIENT (ONE << 20)

static __always_inline __u64 min_u64(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

static __always_inline __u64 max_u64(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/* Return a/b, fixed-point; both below 2^47. In two steps of 16 bits, as a << 32 would overflow 64 bits. */
static __always_inline __u64 div_fixed(__u64 a, __u64 b)
{
	__u64 upper, rest;

	if (!b || (a >> 20) >= b)
		return MAX_QUOTIENT;
	upper = (a << 16) / b;
	rest = (a << 16) % b;
	return (upper << 16) + (rest << 16) / b;
}

/* Return value × share, for a fixed-point share of at most 1. Split, as the product of two 64-bit numbers would overflow. */
static __always_inline __u64 mul_fixed(__u64 value, __u64 share)
{
	return (value >> FRAC_BITS) * share + (((value & (ONE - 1)) * share) >> FRAC_BITS);
}

static __always_inline __u64 floor_fixed(__u64 value)
{
	return value >> FRAC_BITS;
}
