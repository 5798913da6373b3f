/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PERT's window: the same steps as the endpoint's in crates/tcp/src/policy/control/pert, which are tested against these with
 * the same samples, losses and draws. Knows nothing of sockets.
 */
#pragma once
#include "alpha.h"
#include "curve.h"

/* The smallest slow-start threshold (RFC 5681 equation 4), and what a guarded response leaves at least. */
#define SMALLEST_SSTHRESH 2
/* Early responses of the homogeneous form cut 0.35 (SIGCOMM 2007). */
#define HOMOGENEOUS_SHARE (ONE * 35 / 100)
/* Segments, so that nothing overflows: 6 GB in flight. */
#define LARGEST_WINDOW (1ULL << 22)
/* Segments that one ACK may grow the window by. */
#define LARGEST_GROWTH (1U << 16)

enum outcome { OUTCOME_NONE, OUTCOME_RESPONSE, OUTCOME_LOSS, OUTCOME_TIMEOUT, OUTCOME_MODE };

struct pert {
	__u64 cwnd; /* segments; 32 places */
	__u32 ssthresh;
	__u32 mark; /* one guarded response per round trip: none before this is acknowledged */
	struct signals signals;
	struct alpha alpha;
	struct intervals losses;
	struct intervals responses;
};

/* One ACK that moved the window forward. */
struct ack {
	__u64 now;
	__u64 rtt; /* ns; 0 if it measures none */
	__u32 una;
	__u32 nxt;
	__u32 acked;  /* segments */
	__u32 growth; /* segments that the window may grow by: none if it was not used */
	__u32 draw;   /* uniform */
};

static __always_inline void pert_start(struct pert *p, __u32 una)
{
	__builtin_memset(p, 0, sizeof(*p));
	p->mark = una;
	signals_start(&p->signals);
	alpha_start(&p->alpha);
}

static __always_inline void grow_by(struct pert *p, __u64 segments)
{
	p->cwnd = least(p->cwnd + segments, LARGEST_WINDOW << PLACES);
}

/* Adds growth · alpha / cwnd; growth has 32 places. */
static __always_inline void grow_by_alpha(struct pert *p, __u64 growth)
{
	__u64 increase = floor_of(growth) * p->alpha.value + part(p->alpha.value, growth & (ONE - 1)), cwnd = p->cwnd;

	if ((increase | cwnd) >> 47) { /* more than a quotient takes, where the last places do not matter */
		increase >>= 8;
		cwnd >>= 8;
	}
	grow_by(p, quotient(increase, cwnd));
}

/* Sets the window, and the threshold to its whole part but at least 2. */
static __always_inline void shrink_to(struct pert *p, __u64 cwnd)
{
	p->cwnd = cwnd;
	p->ssthresh = most(floor_of(cwnd), SMALLEST_SSTHRESH);
}

static __always_inline bool is_slow_start(const struct pert *p)
{
	return p->cwnd < (__u64)p->ssthresh << PLACES;
}

static __always_inline void count_packets(struct pert *p, __u32 acked)
{
	intervals_count(&p->losses, acked);
	intervals_count(&p->responses, acked);
}

/* An ACK of many does not carry the window beyond the threshold; what is left grows it as in avoidance (RFC 3465 §2.1). */
static __always_inline void start_slowly(struct pert *p, const struct ack *ack)
{
	__u64 growth = (__u64)ack->growth << PLACES;
	__u64 grown = least(growth, most(((__u64)p->ssthresh << PLACES) - p->cwnd, ONE));

	count_packets(p, ack->acked);
	grow_by(p, grown);
	grow_by_alpha(p, growth - grown);
}

static __always_inline bool may_respond(const struct pert *p, const struct ack *ack)
{
	return !parameters.is_guarded || (__s32)(ack->una - p->mark) > 0;
}

static __always_inline void respond_early(struct pert *p, const struct ack *ack)
{
	__u64 share = parameters.is_adaptive ? p->signals.share : HOMOGENEOUS_SHARE;
	__u64 smallest = parameters.is_guarded ? SMALLEST_SSTHRESH * ONE : ONE;

	intervals_close(&p->responses);
	shrink_to(p, most(part(p->cwnd, ONE - share), smallest));
	p->mark = ack->nxt;
	if (parameters.grows_on_response)
		grow_by_alpha(p, (__u64)ack->growth << PLACES);
}

static __always_inline void avoid_congestion(struct pert *p, const struct ack *ack)
{
	count_packets(p, ack->acked);
	if (parameters.is_adaptive) {
		struct conditions conditions = {
			.now = ack->now,
			.queueing = queueing(&p->signals),
			.largest = largest_floored(&p->signals),
			.smoothed = smoothed_rtt(&p->signals),
			.window = p->cwnd,
			.balance = rates_balance(&p->losses, &p->responses),
		};
		alpha_on_ack(&p->alpha, &conditions);
	}
	grow_by_alpha(p, (__u64)ack->growth << PLACES);
}

static __always_inline enum outcome pert_on_ack(struct pert *p, const struct ack *ack)
{
	__u32 mode = p->alpha.mode;

	if (ack->rtt)
		signals_on_rtt(&p->signals, least(ack->rtt, LONGEST_RTT));
	if (is_slow_start(p)) {
		start_slowly(p, ack);
	} else if (may_respond(p, ack) && ack->draw < response_probability(&p->signals)) {
		respond_early(p, ack);
		return OUTCOME_RESPONSE;
	} else {
		avoid_congestion(p, ack);
	}
	return p->alpha.mode == mode ? OUTCOME_NONE : OUTCOME_MODE;
}

/* Gives the window after a loss: by beta, or by one half. */
static __always_inline __u64 after_loss(const struct pert *p)
{
	return parameters.halves_on_loss ? p->cwnd / 2 : most(part(p->cwnd, ONE - p->signals.share), ONE);
}

static __always_inline void pert_on_loss(struct pert *p)
{
	intervals_close(&p->losses);
	shrink_to(p, after_loss(p));
}

static __always_inline void pert_on_timeout(struct pert *p)
{
	intervals_close(&p->losses);
	shrink_to(p, p->cwnd / 2);
	p->cwnd = ONE;
}
