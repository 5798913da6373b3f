/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The response curve: gentle RED with the queueing delay in place of the queue length (SIGCOMM 2007, IWQoS 2008). */
#pragma once
#include "signals.h"

/* Return T3 in ns: 2·T2, and in the adaptive form at least 0.65 of the largest queueing delay (the public ports). */
static __always_inline __u64 third_threshold(const struct signals *s)
{
	__u64 usual = 2 * parameters.second_threshold;

	return parameters.is_adaptive ? max_u64(usual, (65 * largest_delay(s) + 50) / 100) : usual;
}

/* Return the probability of an early response per ACK, fixed-point. */
static __always_inline __u64 response_probability(const struct signals *s)
{
	__u64 q = queueing_delay(s), first = parameters.first_threshold, second = parameters.second_threshold;
	__u64 maximum = parameters.maximum_probability, third = third_threshold(s);

	if (q < first)
		return 0;
	if (q < second)
		return mul_fixed(div_fixed(q - first, second - first), maximum);
	if (parameters.is_flat)
		return maximum;
	if (q < third)
		return maximum + mul_fixed(div_fixed(q - second, third - second), ONE - maximum);
	return ONE;
}
