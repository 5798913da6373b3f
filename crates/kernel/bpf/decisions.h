/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What PERT tells of itself: counters, and a ring of decisions that is written whether or not somebody reads. */
#pragma once
#include "window.h"

struct counters {
	__u64 connections; /* so far */
	__u64 open;        /* now */
	__u64 responses;
	__u64 losses;
	__u64 timeouts;
	__u64 dropped; /* decisions for which the ring had no room */
};

struct counters counters SEC(".data.counters") = {};

/* Somebody who watches wants every ACK told, not only those that decided something; set while the program runs. */
struct wishes {
	__u64 every_ack;
};

struct wishes wishes SEC(".data.wishes") = {};

struct decision {
	__u64 now; /* ns since the machine started */
	__u64 connection;
	__u64 rtt; /* ns, as q, smoothed and smallest */
	__u64 smoothed;
	__u64 smallest;
	__u64 queueing;
	__u64 probability; /* 32 places, as alpha and cwnd */
	__u64 alpha;
	__u64 cwnd;
	__u32 ssthresh;
	__u16 outcome; /* enum outcome */
	__u16 mode;    /* enum mode */
	__u16 local_port;
	__u16 remote_port;
	__u32 remote_address; /* in the network's order; 0 with IPv6 */
	__u32 una; /* of the ACK, as the next three; all 0 without one */
	__u32 nxt;
	__u32 acked;
	__u32 growth;
	__u64 draw;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} decisions SEC(".maps");

static __always_inline void count_outcome(enum outcome outcome)
{
	if (outcome == OUTCOME_RESPONSE)
		__sync_fetch_and_add(&counters.responses, 1);
	else if (outcome == OUTCOME_LOSS)
		__sync_fetch_and_add(&counters.losses, 1);
	else if (outcome == OUTCOME_TIMEOUT)
		__sync_fetch_and_add(&counters.timeouts, 1);
}

static __always_inline void tell(struct sock *sk, const struct pert *p, __u64 connection, const struct ack *ack,
				 enum outcome outcome)
{
	struct decision *decision;

	count_outcome(outcome);
	decision = bpf_ringbuf_reserve(&decisions, sizeof(*decision), 0);
	if (!decision) {
		__sync_fetch_and_add(&counters.dropped, 1);
		return;
	}
	*decision = (struct decision){
		.now = ack->now,
		.connection = connection,
		.rtt = ack->rtt,
		.smoothed = smoothed_rtt(&p->signals),
		.smallest = p->signals.smallest,
		.queueing = queueing(&p->signals),
		.probability = response_probability(&p->signals),
		.alpha = p->alpha.value,
		.cwnd = p->cwnd,
		.ssthresh = p->ssthresh,
		.outcome = outcome,
		.mode = p->alpha.mode,
		.local_port = sk->__sk_common.skc_num,
		.remote_port = __builtin_bswap16(sk->__sk_common.skc_dport),
		.remote_address = sk->__sk_common.skc_daddr,
		.una = ack->una,
		.nxt = ack->nxt,
		.acked = ack->acked,
		.growth = ack->growth,
		.draw = ack->draw,
	};
	bpf_ringbuf_submit(decision, 0);
}

/* What came without an ACK. */
static __always_inline void tell_alone(struct sock *sk, const struct pert *p, __u64 connection, enum outcome outcome)
{
	struct ack none = { .now = bpf_ktime_get_ns() };

	tell(sk, p, connection, &none, outcome);
}
