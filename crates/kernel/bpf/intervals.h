/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Event rates per packet: the weighted mean of the last eight intervals (RFC 5348 §5.4). */
#pragma once
#include "fixed.h"

#define INTERVALS 8
/* RFC 5348's weights 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2 in fifths. */
static const __u8 WEIGHTS[INTERVALS] = { 5, 5, 5, 5, 4, 3, 2, 1 };

struct intervals {
	__u32 closed[INTERVALS]; /* the newest first */
	__u32 count;
	__u32 open;
};

/* A mean as a fraction: no truncation before the final division. */
struct mean {
	__u64 sum;
	__u64 weights; /* 0 before the first event */
};

static __always_inline void intervals_count(struct intervals *i, __u32 packets)
{
	__u32 open = i->open + packets;

	i->open = open < packets ? ~0U : open;
}

static __always_inline void intervals_close(struct intervals *i)
{
#pragma unroll
	for (int n = INTERVALS - 1; n > 0; n--)
		i->closed[n] = i->closed[n - 1];
	i->closed[0] = i->open;
	i->open = 0;
	if (i->count < INTERVALS)
		i->count++;
}

/* Return the mean interval, at least one packet. The open interval replaces the oldest if that raises the mean (RFC 5348 §5.4). */
static __always_inline struct mean intervals_mean(const struct intervals *i)
{
	__u64 closed = 0, with_open = (__u64)WEIGHTS[0] * i->open, weights = 0;

#pragma unroll
	for (__u32 n = 0; n < INTERVALS; n++) {
		if (n < i->count) {
			closed += (__u64)WEIGHTS[n] * i->closed[n];
			weights += WEIGHTS[n];
		}
		if (n + 1 < INTERVALS && n + 1 < i->count)
			with_open += (__u64)WEIGHTS[n + 1] * i->closed[n];
	}
	return (struct mean){ max_u64(max_u64(closed, with_open), weights), weights };
}
