/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What PERT hears of the queue: round-trip times, smoothed, less the smallest (ER thesis). */
#pragma once
#include "fixed.h"
#include "parameters.h"

/* Places of the smoothed round-trip time, in ns: an error of 2^-21 in each step adds up to a hundred times that, 0.00005 ns. */
#define SMOOTHED_PLACES 20
/* Longer round trips count as this one, 100 s, so that nothing overflows. */
#define LONGEST_RTT 100000000000ULL
/* Q is no less where it divides (the public ports). */
#define LARGEST_FLOOR 10000000ULL
/* Beta before any queueing was seen, 0.35 (SIGCOMM 2007). */
#define INITIAL_SHARE (ONE * 35 / 100)

struct signals {
	__u64 smallest;
	__u64 smoothed; /* 20 places; 0 before the first sample */
	__u64 largest_raw;
	__u64 largest_queueing;
	__u64 share; /* beta; 32 places */
};

static __always_inline void signals_start(struct signals *s)
{
	s->smallest = ~0ULL;
	s->smoothed = 0;
	s->largest_raw = 0;
	s->largest_queueing = 0;
	s->share = INITIAL_SHARE;
}

static __always_inline __u64 smoothed_rtt(const struct signals *s)
{
	return s->smoothed >> SMOOTHED_PLACES;
}

/* Gives q, the smoothed queueing delay. */
static __always_inline __u64 queueing(const struct signals *s)
{
	__u64 rtt = smoothed_rtt(s);

	return rtt > s->smallest ? rtt - s->smallest : 0;
}

/* Gives the largest queueing delay of the whole connection. */
static __always_inline __u64 largest_delay(const struct signals *s)
{
	if (!parameters.is_raw_largest)
		return s->largest_queueing;
	return s->largest_raw > s->smallest ? s->largest_raw - s->smallest : 0;
}

/* Gives Q, the same but no less than the guard says. */
static __always_inline __u64 largest_floored(const struct signals *s)
{
	return most(largest_delay(s), parameters.is_guarded ? LARGEST_FLOOR : 0);
}

static __always_inline void signals_on_rtt(struct signals *s, __u64 rtt)
{
	__u64 sample = rtt << SMOOTHED_PLACES, q;

	s->smallest = least(s->smallest, rtt);
	s->largest_raw = most(s->largest_raw, rtt);
	s->smoothed = s->smoothed ? (99 * s->smoothed + sample + 50) / 100 : sample;
	q = queueing(s);
	s->largest_queueing = most(s->largest_queueing, q);
	if (q)
		s->share = quotient(q, q + largest_floored(s));
}
