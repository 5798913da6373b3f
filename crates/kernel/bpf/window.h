/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PERT's cwnd: the algorithm of crates/tcp/src/policy/control/pert, tested against it with the same samples, losses and random
 * numbers. Independent of sockets.
 */
#pragma once
#include "alpha.h"
#include "curve.h"

/* The smallest ssthresh (RFC 5681 equation 4), and the smallest cwnd after a guarded response. */
#define MIN_SSTHRESH 2
/* Early responses of the homogeneous form reduce cwnd by 0.35 (SIGCOMM 2007). */
#define HOMOGENEOUS_BETA (ONE * 35 / 100)
/* Segments (6 GB in flight), to avoid overflows. */
#define MAX_CWND (1ULL << 22)
/* Segments by which one ACK may grow cwnd. */
#define MAX_GROWTH (1U << 16)

enum outcome { OUTCOME_NONE, OUTCOME_RESPONSE, OUTCOME_LOSS, OUTCOME_TIMEOUT, OUTCOME_MODE };

struct pert {
	__u64 cwnd; /* segments, fixed-point */
	__u32 ssthresh;
	__u32 response_seq; /* snd_nxt at the last response: guards allow one per RTT */
	struct signals signals;
	struct alpha alpha;
	struct intervals losses;
	struct intervals responses;
};

/* An ACK that advanced snd_una. */
struct ack {
	__u64 now;
	__u64 rtt; /* ns; 0 if it measures none */
	__u32 una;
	__u32 nxt;
	__u32 acked;  /* segments */
	__u32 growth; /* segments by which cwnd may grow: 0 if not cwnd-limited */
	__u32 draw;   /* uniform random number */
};

static __always_inline void pert_start(struct pert *p, __u32 una)
{
	__builtin_memset(p, 0, sizeof(*p));
	p->response_seq = una;
	signals_start(&p->signals);
	alpha_start(&p->alpha);
}

static __always_inline void grow_by(struct pert *p, __u64 segments)
{
	p->cwnd = min_u64(p->cwnd + segments, MAX_CWND << FRAC_BITS);
}

/* Add growth · alpha / cwnd; growth is fixed-point. */
static __always_inline void grow_by_alpha(struct pert *p, __u64 growth)
{
	__u64 increase = floor_fixed(growth) * p->alpha.value + mul_fixed(p->alpha.value, growth & (ONE - 1)), cwnd = p->cwnd;

	if ((increase | cwnd) >> 47) { /* operands of div_fixed are below 2^47; the lost bits do not matter here */
		increase >>= 8;
		cwnd >>= 8;
	}
	grow_by(p, div_fixed(increase, cwnd));
}

/* Set cwnd, and ssthresh to its integer part, at least 2. */
static __always_inline void reduce_cwnd(struct pert *p, __u64 cwnd)
{
	p->cwnd = cwnd;
	p->ssthresh = max_u64(floor_fixed(cwnd), MIN_SSTHRESH);
}

static __always_inline bool in_slow_start(const struct pert *p)
{
	return p->cwnd < (__u64)p->ssthresh << FRAC_BITS;
}

static __always_inline void count_packets(struct pert *p, __u32 acked)
{
	intervals_count(&p->losses, acked);
	intervals_count(&p->responses, acked);
}

/* A stretch ACK grows cwnd exponentially up to ssthresh only; the rest counts as congestion avoidance (as tcp_slow_start). */
static __always_inline void slow_start(struct pert *p, const struct ack *ack)
{
	__u64 growth = (__u64)ack->growth << FRAC_BITS;
	__u64 grown = min_u64(growth, max_u64(((__u64)p->ssthresh << FRAC_BITS) - p->cwnd, ONE));

	count_packets(p, ack->acked);
	grow_by(p, grown);
	grow_by_alpha(p, growth - grown);
}

static __always_inline bool may_respond(const struct pert *p, const struct ack *ack)
{
	return !parameters.is_guarded || (__s32)(ack->una - p->response_seq) > 0;
}

static __always_inline void early_response(struct pert *p, const struct ack *ack)
{
	__u64 beta = parameters.is_adaptive ? p->signals.beta : HOMOGENEOUS_BETA;
	__u64 smallest = parameters.is_guarded ? MIN_SSTHRESH * ONE : ONE;

	intervals_close(&p->responses);
	reduce_cwnd(p, max_u64(mul_fixed(p->cwnd, ONE - beta), smallest));
	p->response_seq = ack->nxt;
	if (parameters.grows_on_response)
		grow_by_alpha(p, (__u64)ack->growth << FRAC_BITS);
}

static __always_inline void cong_avoid(struct pert *p, const struct ack *ack)
{
	count_packets(p, ack->acked);
	if (parameters.is_adaptive) {
		struct alpha_input alpha_input = {
			.now = ack->now,
			.queueing = queueing_delay(&p->signals),
			.largest = floored_largest_delay(&p->signals),
			.srtt = smoothed_rtt(&p->signals),
			.window = p->cwnd,
			.rate_ratio = loss_response_ratio(&p->losses, &p->responses),
		};
		alpha_on_ack(&p->alpha, &alpha_input);
	}
	grow_by_alpha(p, (__u64)ack->growth << FRAC_BITS);
}

static __always_inline enum outcome pert_on_ack(struct pert *p, const struct ack *ack)
{
	__u32 mode = p->alpha.mode;

	if (ack->rtt)
		signals_on_rtt(&p->signals, min_u64(ack->rtt, MAX_RTT_NS));
	if (in_slow_start(p)) {
		slow_start(p, ack);
	} else if (may_respond(p, ack) && ack->draw < response_probability(&p->signals)) {
		early_response(p, ack);
		return OUTCOME_RESPONSE;
	} else {
		cong_avoid(p, ack);
	}
	return p->alpha.mode == mode ? OUTCOME_NONE : OUTCOME_MODE;
}

/* Return cwnd after a loss: reduced by beta, or by one half. */
static __always_inline __u64 cwnd_after_loss(const struct pert *p)
{
	return parameters.halves_on_loss ? p->cwnd / 2 : max_u64(mul_fixed(p->cwnd, ONE - p->signals.beta), ONE);
}

static __always_inline void pert_on_loss(struct pert *p)
{
	intervals_close(&p->losses);
	reduce_cwnd(p, cwnd_after_loss(p));
}

static __always_inline void pert_on_timeout(struct pert *p)
{
	intervals_close(&p->losses);
	reduce_cwnd(p, p->cwnd / 2);
	p->cwnd = ONE;
}
