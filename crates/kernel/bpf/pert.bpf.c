// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * PERT as a Linux congestion control: translates between the callbacks of tcp_congestion_ops and the decisions of window.h. Loss
 * detection, recovery and timers belong to the kernel.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "window.h"
#include "decisions.h"
#include "replay.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* Private state per connection, in socket storage: it exceeds the 104 bytes of icsk_ca_priv. */
struct connection {
	struct pert pert;
	__u64 number;
	__u64 rtt;       /* sample of the current ACK in ns; 0 if none */
	__u32 ssthresh_requested;  /* ssthresh() was called; set_state() will tell the reason */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

static __always_inline struct connection *get_connection(struct sock *sk)
{
	return bpf_sk_storage_get(&connections, sk, 0, 0);
}

static __always_inline const struct tcp_sock *tcp_sk(const struct sock *sk)
{
	return (const struct tcp_sock *)sk;
}

/*
 * Adopt the kernel's cwnd if it differs from ours: the kernel sets it at the end of recovery, after a timeout, after idle and when
 * it undoes a reduction. Only our copy holds the fraction of a segment. A cwnd above MAX_CWND is uninitialised stack memory, where
 * a kernel skipped pert_undo_cwnd (see apply_missed_reduction): keep ours.
 */
static __always_inline void sync_from_kernel(struct pert *p, const struct tcp_sock *tp)
{
	if (tp->snd_cwnd <= MAX_CWND && max_u64(floor_fixed(p->cwnd), 1) != tp->snd_cwnd)
		p->cwnd = (__u64)tp->snd_cwnd << FRAC_BITS;
	p->ssthresh = tp->snd_ssthresh;
}

/*
 * Some kernels skip BPF programs while process 1 is the current task, hence also in timers that interrupt it (docs/kernel.md). They
 * then use uninitialised stack memory, part of an address, as the result of pert_ssthresh. Such an ssthresh exceeds any of ours: apply
 * the reduction that was missed, before the kernel uses the value.
 */
static __always_inline void apply_missed_reduction(struct connection *c, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (tp->snd_ssthresh <= MAX_CWND || tp->snd_ssthresh == TCP_INFINITE_SSTHRESH)
		return;
	c->pert.cwnd = min_u64(tp->prior_cwnd, MAX_CWND) << FRAC_BITS;
	pert_on_loss(&c->pert);
	tp->snd_ssthresh = c->pert.ssthresh;
	tp->snd_cwnd = max_u64(1, min_u64(tp->snd_cwnd, c->pert.ssthresh));
	record_event(sk, &c->pert, c->number, OUTCOME_LOSS);
}

static __always_inline void sync_to_kernel(const struct pert *p, struct tcp_sock *tp)
{
	tp->snd_cwnd = max_u64(1, min_u64(floor_fixed(p->cwnd), tp->snd_cwnd_clamp));
	tp->snd_ssthresh = p->ssthresh;
}

/* As tcp_is_cwnd_limited(): an unused cwnd does not grow; in slow start it may reach twice the flight. */
static __always_inline bool is_cwnd_limited(const struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return true;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

SEC("struct_ops/pert_init")
void BPF_PROG(pert_init, struct sock *sk)
{
	struct connection *c = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);

	if (!c)
		return;
	pert_start(&c->pert, tcp_sk(sk)->snd_una);
	c->rtt = 0;
	c->ssthresh_requested = false;
	c->number = __sync_fetch_and_add(&counters.connections, 1);
	__sync_fetch_and_add(&counters.open, 1);
}

SEC("struct_ops/pert_release")
void BPF_PROG(pert_release, struct sock *sk)
{
	if (!bpf_sk_storage_delete(&connections, sk))
		__sync_fetch_and_add(&counters.open, -1);
}

SEC("struct_ops/pert_pkts_acked")
void BPF_PROG(pert_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct connection *c = get_connection(sk);

	if (!c)
		return;
	apply_missed_reduction(c, sk);
	c->rtt = sample->rtt_us < 0 ? 0 : max_u64(sample->rtt_us, 1) * 1000;
}

SEC("struct_ops/pert_cong_avoid")
void BPF_PROG(pert_cong_avoid, struct sock *sk, __u32 number, __u32 acked)
{
	struct connection *c = get_connection(sk);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct ack ack = {};
	enum outcome outcome;

	if (!c)
		return;
	apply_missed_reduction(c, sk);
	sync_from_kernel(&c->pert, tp);
	ack.now = bpf_ktime_get_ns();
	ack.rtt = c->rtt;
	ack.una = tp->snd_una;
	ack.nxt = tp->snd_nxt;
	ack.acked = acked;
	ack.growth = is_cwnd_limited(tp) ? min_u64(acked, MAX_GROWTH) : 0;
	ack.draw = bpf_get_prandom_u32();
	c->rtt = 0;
	outcome = pert_on_ack(&c->pert, &ack);
	sync_to_kernel(&c->pert, tp);
	if (outcome != OUTCOME_NONE || switches.every_ack)
		record_decision(sk, &c->pert, c->number, &ack, outcome);
}

/* Called before the reason is known (duplicate ACKs, ECE or RTO), which pert_set_state gets. So only a preview is returned here. */
SEC("struct_ops/pert_ssthresh")
__u32 BPF_PROG(pert_ssthresh, struct sock *sk)
{
	struct connection *c = get_connection(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!c)
		return max_u64(tp->snd_cwnd / 2, MIN_SSTHRESH);
	apply_missed_reduction(c, sk);
	sync_from_kernel(&c->pert, tp);
	c->ssthresh_requested = true;
	return max_u64(floor_fixed(cwnd_after_loss(&c->pert)), MIN_SSTHRESH);
}

SEC("struct_ops/pert_set_state")
void BPF_PROG(pert_set_state, struct sock *sk, __u8 state)
{
	struct connection *c = get_connection(sk);
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (!c)
		return;
	if (state == TCP_CA_LOSS) {
		pert_on_timeout(&c->pert);
		if (c->ssthresh_requested) /* else a second RTO in the same recovery, which keeps ssthresh */
			tp->snd_ssthresh = c->pert.ssthresh;
		record_event(sk, &c->pert, c->number, OUTCOME_TIMEOUT);
	} else if (c->ssthresh_requested) {
		pert_on_loss(&c->pert);
		record_event(sk, &c->pert, c->number, OUTCOME_LOSS);
	}
	c->ssthresh_requested = false;
}

SEC("struct_ops/pert_undo_cwnd")
__u32 BPF_PROG(pert_undo_cwnd, struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return max_u64(tp->snd_cwnd, tp->prior_cwnd);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops pert = {
	.init = (void *)pert_init,
	.release = (void *)pert_release,
	.pkts_acked = (void *)pert_pkts_acked,
	.cong_avoid = (void *)pert_cong_avoid,
	.ssthresh = (void *)pert_ssthresh,
	.set_state = (void *)pert_set_state,
	.undo_cwnd = (void *)pert_undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "pert",
};
