/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PERT's additive increase alpha: high-speed, safe and compete mode (IWQoS 2008; counters and ramps as in the public ports). */
#pragma once
#include "intervals.h"
#include "signals.h"

/* Interval of updates in smoothed RTTs (the ports). */
#define ALPHA_UPDATE_RTTS 5

enum mode { MODE_NONE, MODE_SAFE, MODE_HIGH_SPEED, MODE_COMPETE };

struct alpha {
	__u64 value; /* fixed-point */
	__u64 updated;
	__u32 high_speed;
	__u32 compete;
	__u32 mode;
};

/* Inputs of alpha at an ACK. Times in ns. */
struct alpha_input {
	__u64 now;
	__u64 queueing;
	__u64 largest;
	__u64 srtt;
	__u64 window; /* fixed-point */
	__u64 rate_ratio; /* 1 + p'/p, fixed-point; 0 before the first loss */
};

static __always_inline void alpha_start(struct alpha *a)
{
	*a = (struct alpha){ .value = ONE };
}

/*
 * Return 1 + p'/p, the ratio of response and loss rates. A rate is the inverse of a mean interval, so the ratio of rates is the
 * inverse ratio of means.
 */
static __always_inline __u64 loss_response_ratio(const struct intervals *losses, const struct intervals *responses)
{
	struct mean loss = intervals_mean(losses), response = intervals_mean(responses);

	if (!loss.weights)
		return 0;
	if (!response.weights)
		return ONE;
	return ONE + div_fixed(loss.sum * response.weights, response.sum * loss.weights);
}

/* Return the target in compete mode: the rate ratio from 0.65·Q on, less on a steep hyperbola from 0.5·Q (the ports). */
static __always_inline __u64 alpha_target(const struct alpha_input *c)
{
	__u64 q = c->queueing, largest = c->largest, steepness;

	if (2 * q < largest || 100 * q >= 65 * largest)
		return c->rate_ratio;
	/* k1 = (a − 1)·Q·16/1500, target = 1 + 100·k1/Q − k1/(q − 0.49·Q), here with k1 per Q. */
	steepness = (100 * ONE - div_fixed(100 * largest, 100 * q - 49 * largest)) * 16 / 1500;
	return ONE + mul_fixed(c->rate_ratio - ONE, steepness);
}

static __always_inline __u64 alpha_competing(const struct alpha *a, const struct alpha_input *c)
{
	__u64 ramped = min_u64(a->value + ONE / 10, parameters.largest_alpha), target;

	if (!c->rate_ratio)
		return ramped;
	target = min_u64(alpha_target(c), parameters.largest_alpha);
	return parameters.alpha_rule == ALPHA_DIRECT ? target : min_u64(ramped, target);
}

/* The three modes as printed in the PERT-video paper, evaluated at every ACK. */
static __always_inline void alpha_literal(struct alpha *a, const struct alpha_input *c)
{
	if (c->queueing < parameters.first_threshold) {
		a->value = min_u64(a->value + div_fixed(1 << 24, c->window >> 8), parameters.largest_alpha);
		a->mode = MODE_HIGH_SPEED;
	} else if (100 * c->queueing >= 65 * c->largest) {
		a->value = min_u64(c->rate_ratio ? c->rate_ratio : ONE, parameters.largest_alpha);
		a->mode = MODE_COMPETE;
	} else {
		a->value = ONE;
		a->mode = MODE_SAFE;
	}
}

static __always_inline void alpha_count(struct alpha *a, const struct alpha_input *c)
{
	if (c->queueing <= parameters.first_threshold) {
		a->high_speed++;
	} else if (2 * c->queueing >= c->largest) {
		a->compete++;
	} else {
		a->high_speed = 0;
		a->compete = 0;
	}
}

static __always_inline void alpha_adapt(struct alpha *a, const struct alpha_input *c)
{
	if ((__u64)a->compete << FRAC_BITS >= c->window) {
		a->value = alpha_competing(a, c);
		a->mode = MODE_COMPETE;
	} else if ((__u64)a->high_speed << FRAC_BITS >= c->window) {
		a->value = min_u64(a->value + ONE / 2, parameters.largest_alpha);
		a->mode = MODE_HIGH_SPEED;
	} else {
		a->value = max_u64(ONE, a->value * 9 / 10);
		a->mode = MODE_SAFE;
	}
}

static __always_inline void alpha_on_ack(struct alpha *a, const struct alpha_input *c)
{
	if (parameters.alpha_rule == ALPHA_LITERAL) {
		alpha_literal(a, c);
		return;
	}
	alpha_count(a, c);
	if (c->now - a->updated < ALPHA_UPDATE_RTTS * c->srtt)
		return;
	alpha_adapt(a, c);
	a->high_speed = 0;
	a->compete = 0;
	a->updated = c->now;
}
