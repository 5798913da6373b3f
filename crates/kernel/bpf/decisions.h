/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters, and a ring buffer of decisions that is written whether or not it is read. */
#pragma once
#include "window.h"

struct counters {
	__u64 connections; /* so far */
	__u64 open;        /* now */
	__u64 responses;
	__u64 losses;
	__u64 timeouts;
	__u64 dropped; /* decisions dropped because the ring was full */
};

struct counters counters SEC(".data.counters") = {};

/* Set by user space at run time: record every ACK, not only those that changed something. */
struct switches {
	__u64 every_ack;
};

struct switches switches SEC(".data.switches") = {};

struct decision {
	__u64 now; /* ns since the machine started */
	__u64 connection;
	__u64 rtt; /* ns, as srtt, min_rtt and queueing */
	__u64 srtt;
	__u64 min_rtt;
	__u64 queueing;
	__u64 probability; /* fixed-point, as alpha and cwnd */
	__u64 alpha;
	__u64 cwnd;
	__u32 ssthresh;
	__u16 outcome; /* enum outcome */
	__u16 mode;    /* enum mode */
	__u16 local_port;
	__u16 remote_port;
	__u32 remote_address; /* network byte order; 0 for IPv6 */
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

static __always_inline void record_decision(struct sock *sk, const struct pert *p, __u64 connection, const struct ack *ack,
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
		.srtt = smoothed_rtt(&p->signals),
		.min_rtt = p->signals.min_rtt,
		.queueing = queueing_delay(&p->signals),
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

/* Record an event without an ACK. */
static __always_inline void record_event(struct sock *sk, const struct pert *p, __u64 connection, enum outcome outcome)
{
	struct ack none = { .now = bpf_ktime_get_ns() };

	record_decision(sk, p, connection, &none, outcome);
}
