// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * PERT as a congestion control of Linux: what the kernel tells of a connection becomes what window.h decides about, and the
 * other way round. Loss detection, recovery and timers are the kernel's.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "window.h"
#include "decisions.h"
#include "replay.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* What a connection keeps: more than the 104 bytes of icsk_ca_priv. */
struct connection {
	struct pert pert;
	__u64 number;
	__u64 rtt;       /* measured by the ACK that is being handled; 0 if none */
	__u32 is_asked;  /* the kernel has asked for a threshold, and will say why */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

static __always_inline struct connection *connection_of(struct sock *sk)
{
	return bpf_sk_storage_get(&connections, sk, 0, 0);
}

static __always_inline const struct tcp_sock *tcp_of(const struct sock *sk)
{
	return (const struct tcp_sock *)sk;
}

/*
 * Takes the kernel's window over where it is not ours any more: it sets it at the end of a recovery, after a timeout, after
 * idle time and when it undoes a reduction. The part of a segment that the kernel cannot hold is ours. A window beyond all of
 * ours is what stood on the stack where a kernel left pert_undo_cwnd out (see make_up): ours stays as it was.
 */
static __always_inline void take_over(struct pert *p, const struct tcp_sock *tp)
{
	if (tp->snd_cwnd <= LARGEST_WINDOW && most(floor_of(p->cwnd), 1) != tp->snd_cwnd)
		p->cwnd = (__u64)tp->snd_cwnd << PLACES;
	p->ssthresh = tp->snd_ssthresh;
}

/*
 * There are kernels that run no programs where process 1 is the current task, and so none in a timer that interrupted it
 * (docs/kernel.md). They take what stood on the stack, a part of an address, for the threshold that pert_ssthresh did not
 * give. Such a threshold is larger than any of ours: the reduction that was missed is made up for, before the kernel reckons
 * with it.
 */
static __always_inline void make_up(struct connection *c, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (tp->snd_ssthresh <= LARGEST_WINDOW || tp->snd_ssthresh == TCP_INFINITE_SSTHRESH)
		return;
	c->pert.cwnd = least(tp->prior_cwnd, LARGEST_WINDOW) << PLACES;
	pert_on_loss(&c->pert);
	tp->snd_ssthresh = c->pert.ssthresh;
	tp->snd_cwnd = most(1, least(tp->snd_cwnd, c->pert.ssthresh));
	tell_alone(sk, &c->pert, c->number, OUTCOME_LOSS);
}

static __always_inline void hand_over(const struct pert *p, struct tcp_sock *tp)
{
	tp->snd_cwnd = most(1, least(floor_of(p->cwnd), tp->snd_cwnd_clamp));
	tp->snd_ssthresh = p->ssthresh;
}

/* Linux's tcp_is_cwnd_limited: a window that is not used does not grow; in slow start it may become twice what is used. */
static __always_inline bool is_used(const struct tcp_sock *tp)
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
	pert_start(&c->pert, tcp_of(sk)->snd_una);
	c->rtt = 0;
	c->is_asked = false;
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
	struct connection *c = connection_of(sk);

	if (!c)
		return;
	make_up(c, sk);
	c->rtt = sample->rtt_us < 0 ? 0 : most(sample->rtt_us, 1) * 1000;
}

SEC("struct_ops/pert_cong_avoid")
void BPF_PROG(pert_cong_avoid, struct sock *sk, __u32 number, __u32 acked)
{
	struct connection *c = connection_of(sk);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct ack ack = {};
	enum outcome outcome;

	if (!c)
		return;
	make_up(c, sk);
	take_over(&c->pert, tp);
	ack.now = bpf_ktime_get_ns();
	ack.rtt = c->rtt;
	ack.una = tp->snd_una;
	ack.nxt = tp->snd_nxt;
	ack.acked = acked;
	ack.growth = is_used(tp) ? least(acked, LARGEST_GROWTH) : 0;
	ack.draw = bpf_get_prandom_u32();
	c->rtt = 0;
	outcome = pert_on_ack(&c->pert, &ack);
	hand_over(&c->pert, tp);
	if (outcome != OUTCOME_NONE || wishes.every_ack)
		tell(sk, &c->pert, c->number, &ack, outcome);
}

/* The kernel asks before it says whether duplicate ACKs, a mark or the timer told of a loss: pert_set_state hears that. */
SEC("struct_ops/pert_ssthresh")
__u32 BPF_PROG(pert_ssthresh, struct sock *sk)
{
	struct connection *c = connection_of(sk);
	const struct tcp_sock *tp = tcp_of(sk);

	if (!c)
		return most(tp->snd_cwnd / 2, SMALLEST_SSTHRESH);
	make_up(c, sk);
	take_over(&c->pert, tp);
	c->is_asked = true;
	return most(floor_of(after_loss(&c->pert)), SMALLEST_SSTHRESH);
}

SEC("struct_ops/pert_set_state")
void BPF_PROG(pert_set_state, struct sock *sk, __u8 state)
{
	struct connection *c = connection_of(sk);
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (!c)
		return;
	if (state == TCP_CA_LOSS) {
		pert_on_timeout(&c->pert);
		if (c->is_asked) /* else it is for the second time in one recovery, which leaves the threshold */
			tp->snd_ssthresh = c->pert.ssthresh;
		tell_alone(sk, &c->pert, c->number, OUTCOME_TIMEOUT);
	} else if (c->is_asked) {
		pert_on_loss(&c->pert);
		tell_alone(sk, &c->pert, c->number, OUTCOME_LOSS);
	}
	c->is_asked = false;
}

SEC("struct_ops/pert_undo_cwnd")
__u32 BPF_PROG(pert_undo_cwnd, struct sock *sk)
{
	const struct tcp_sock *tp = tcp_of(sk);

	return most(tp->snd_cwnd, tp->prior_cwnd);
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
