/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parameters, constant after loading. The loader validates and writes them as 64-bit numbers in this order (src/parameters.rs).
 */
#pragma once
#include "kernel.h"
#include <bpf/bpf_helpers.h>

enum alpha_rule { ALPHA_DIRECT, ALPHA_RAMPED, ALPHA_LITERAL };

struct parameters {
	__u64 is_adaptive;         /* adaptive form (IWQoS 2008), else homogeneous (SIGCOMM 2007) */
	__u64 is_raw_largest;      /* largest queueing delay of raw samples, else of the smoothed RTT */
	__u64 is_flat;             /* constant above T2, else rising to 1 at T3 */
	__u64 alpha_rule;          /* enum alpha_rule */
	__u64 grows_on_response;   /* the ACK of a response also adds alpha / cwnd */
	__u64 halves_on_loss;      /* else reduce by beta = q / (q + Q) */
	__u64 is_guarded;          /* one response per RTT, cwnd >= 2, Q >= 10 ms */
	__u64 first_threshold;     /* T1 in ns */
	__u64 second_threshold;    /* T2 in ns */
	__u64 maximum_probability; /* at T2, fixed-point */
	__u64 largest_alpha;       /* fixed-point */
	char name[TCP_CA_NAME_MAX]; /* registered name, read back by `earlybird kernel status` */
};

const volatile struct parameters parameters SEC(".rodata.parameters") = {};
