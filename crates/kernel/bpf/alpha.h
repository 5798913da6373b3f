/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PERT's increase per round trip: high-speed, safe and compete mode (IWQoS 2008; counters and ramps of the public ports). */
#pragma once
#include "intervals.h"
#include "signals.h"

/* Alpha is adapted every so many smoothed round trips (the ports). */
#define ROUND_TRIPS_BETWEEN_UPDATES 5

enum mode { MODE_NONE, MODE_SAFE, MODE_HIGH_SPEED, MODE_COMPETE };

struct alpha {
	__u64 value; /* 32 places */
	__u64 updated;
	__u32 high_speed;
	__u32 compete;
	__u32 mode;
};

/* What alpha depends on at an ACK. */
struct conditions {
	__u64 now;
	__u64 queueing;
	__u64 largest;
	__u64 smoothed;
	__u64 window; /* 32 places */
	__u64 balance; /* 1 + p'/p with 32 places; 0 before the first loss */
};

static __always_inline void alpha_start(struct alpha *a)
{
	*a = (struct alpha){ .value = ONE };
}

/* Gives 1 + p'/p. A rate is the inverse of a mean interval, so the rates' quotient is that of the means the other way round. */
static __always_inline __u64 rates_balance(const struct intervals *losses, const struct intervals *responses)
{
	struct mean loss = intervals_mean(losses), response = intervals_mean(responses);

	if (!loss.weights)
		return 0;
	if (!response.weights)
		return ONE;
	return ONE + quotient(loss.sum * response.weights, response.sum * loss.weights);
}

/* Gives the target in compete mode: the balance from 0.65·Q on, less on a steep hyperbola from 0.5·Q (the ports). */
static __always_inline __u64 alpha_target(const struct conditions *c)
{
	__u64 q = c->queueing, largest = c->largest, steepness;

	if (2 * q < largest || 100 * q >= 65 * largest)
		return c->balance;
	/* k1 = (a − 1)·Q·16/1500, target = 1 + 100·k1/Q − k1/(q − 0.49·Q), here with k1 per Q. */
	steepness = (100 * ONE - quotient(100 * largest, 100 * q - 49 * largest)) * 16 / 1500;
	return ONE + part(c->balance - ONE, steepness);
}

static __always_inline __u64 alpha_competing(const struct alpha *a, const struct conditions *c)
{
	__u64 ramped = least(a->value + ONE / 10, parameters.largest_alpha), target;

	if (!c->balance)
		return ramped;
	target = least(alpha_target(c), parameters.largest_alpha);
	return parameters.alpha_rule == ALPHA_DIRECT ? target : least(ramped, target);
}

/* The PERT-video paper's three modes word by word, at every ACK. */
static __always_inline void alpha_literal(struct alpha *a, const struct conditions *c)
{
	if (c->queueing < parameters.first_threshold) {
		a->value = least(a->value + quotient(1 << 24, c->window >> 8), parameters.largest_alpha);
		a->mode = MODE_HIGH_SPEED;
	} else if (100 * c->queueing >= 65 * c->largest) {
		a->value = least(c->balance ? c->balance : ONE, parameters.largest_alpha);
		a->mode = MODE_COMPETE;
	} else {
		a->value = ONE;
		a->mode = MODE_SAFE;
	}
}

static __always_inline void alpha_count(struct alpha *a, const struct conditions *c)
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

static __always_inline void alpha_adapt(struct alpha *a, const struct conditions *c)
{
	if ((__u64)a->compete << PLACES >= c->window) {
		a->value = alpha_competing(a, c);
		a->mode = MODE_COMPETE;
	} else if ((__u64)a->high_speed << PLACES >= c->window) {
		a->value = least(a->value + ONE / 2, parameters.largest_alpha);
		a->mode = MODE_HIGH_SPEED;
	} else {
		a->value = most(ONE, a->value * 9 / 10);
		a->mode = MODE_SAFE;
	}
}

static __always_inline void alpha_on_ack(struct alpha *a, const struct conditions *c)
{
	if (parameters.alpha_rule == ALPHA_LITERAL) {
		alpha_literal(a, c);
		return;
	}
	alpha_count(a, c);
	if (c->now - a->updated < ROUND_TRIPS_BETWEEN_UPDATES * c->smoothed)
		return;
	alpha_adapt(a, c);
	a->high_speed = 0;
	a->compete = 0;
	a->updated = c->now;
}
