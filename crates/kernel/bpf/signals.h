/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Congestion signals: the smoothed queueing delay, which is srtt - min_rtt (ER thesis). */
#pragma once
#include "fixed.h"
#include "parameters.h"

/* Fractional bits of srtt in ns: a rounding error of 2^-21 per step accumulates to 100 times that, 0.00005 ns. */
#define SRTT_FRAC_BITS 20
/* RTTs are capped at 100 s, to avoid overflows. */
#define MAX_RTT_NS 100000000000ULL
/* Lower bound of Q as a divisor (the public ports). */
#define MIN_LARGEST_DELAY 10000000ULL
/* Beta before the first queueing delay, 0.35 (SIGCOMM 2007). */
#define INITIAL_BETA (ONE * 35 / 100)

struct signals {
	__u64 min_rtt;
	__u64 srtt; /* SRTT_FRAC_BITS fractional bits; 0 before the first sample */
	__u64 largest_raw;
	__u64 largest_queueing;
	__u64 beta; /* fixed-point */
};

static __always_inline void signals_start(struct signals *s)
{
	s->min_rtt = ~0ULL;
	s->srtt = 0;
	s->largest_raw = 0;
	s->largest_queueing = 0;
	s->beta = INITIAL_BETA;
}

static __always_inline __u64 smoothed_rtt(const struct signals *s)
{
	return s->srtt >> SRTT_FRAC_BITS;
}

/* Return q, the smoothed queueing delay in ns. */
static __always_inline __u64 queueing_delay(const struct signals *s)
{
	__u64 rtt = smoothed_rtt(s);

	return rtt > s->min_rtt ? rtt - s->min_rtt : 0;
}

/* Return the largest queueing delay of the connection in ns. */
static __always_inline __u64 largest_delay(const struct signals *s)
{
	if (!parameters.is_raw_largest)
		return s->largest_queueing;
	return s->largest_raw > s->min_rtt ? s->largest_raw - s->min_rtt : 0;
}

/* Return Q: the largest queueing delay with the lower bound of the guarded form. */
static __always_inline __u64 floored_largest_delay(const struct signals *s)
{
	return max_u64(largest_delay(s), parameters.is_guarded ? MIN_LARGEST_DELAY : 0);
}

static __always_inline void signals_on_rtt(struct signals *s, __u64 rtt)
{
	__u64 sample = rtt << SRTT_FRAC_BITS, q;

	s->min_rtt = min_u64(s->min_rtt, rtt);
	s->largest_raw = max_u64(s->largest_raw, rtt);
	s->srtt = s->srtt ? (99 * s->srtt + sample + 50) / 100 : sample;
	q = queueing_delay(s);
	s->largest_queueing = max_u64(s->largest_queueing, q);
	if (q)
		s->beta = div_fixed(q, q + floored_largest_delay(s));
}
