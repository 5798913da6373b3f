/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The same functions without a socket: a test hands in one step after the other, draws included, and reads the window
 * (BPF_PROG_TEST_RUN). It is loaded by that test alone.
 */
#pragma once
#include "window.h"

enum step_kind { STEP_START, STEP_ACK, STEP_LOSS, STEP_TIMEOUT };

struct step {
	__u32 kind;
	__u32 padding;
	struct ack ack;
	/* What came of it. */
	__u64 cwnd;
	__u64 ssthresh;
	__u64 probability;
	__u64 alpha;
	__u64 queueing;
	__u64 share;
};

struct pert replayed = {};

SEC("syscall")
int pert_replay(struct step *step)
{
	struct pert *p = &replayed;
	struct ack ack = step->ack;

	if (step->kind == STEP_START) {
		pert_start(p, ack.una);
		p->cwnd = step->cwnd;
		p->ssthresh = step->ssthresh;
	} else if (step->kind == STEP_ACK) {
		pert_on_ack(p, &ack);
	} else if (step->kind == STEP_LOSS) {
		pert_on_loss(p);
	} else {
		pert_on_timeout(p);
	}
	step->cwnd = p->cwnd;
	step->ssthresh = p->ssthresh;
	step->probability = response_probability(&p->signals);
	step->alpha = p->alpha.value;
	step->queueing = queueing(&p->signals);
	step->share = p->signals.share;
	return 0;
}
