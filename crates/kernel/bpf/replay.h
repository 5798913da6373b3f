/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs the same functions without a socket (BPF_PROG_TEST_RUN): a test passes one step after the other, random numbers included,
 * and reads the state. Loaded by that test only.
 */
#pragma once
#include "window.h"

enum step_kind { STEP_START, STEP_ACK, STEP_LOSS, STEP_TIMEOUT };

struct replay_step {
	__u32 kind;
	__u32 padding;
	struct ack ack;
	/* Results. */
	__u64 cwnd;
	__u64 ssthresh;
	__u64 probability;
	__u64 alpha;
	__u64 queueing;
	__u64 beta;
};

struct pert replayed = {};

SEC("syscall")
int pert_replay(struct replay_step *step)
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
	step->queueing = queueing_delay(&p->signals);
	step->beta = p->signals.beta;
	return 0;
}
