/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an operator chooses, fixed when the program is loaded. The loader writes it as these 64-bit numbers in this order
 * (src/parameters.rs), and has checked them.
 */
#pragma once
#include "kernel.h"
#include <bpf/bpf_helpers.h>

enum alpha_rule { ALPHA_DIRECT, ALPHA_RAMPED, ALPHA_LITERAL };

struct parameters {
	__u64 is_adaptive;         /* 2008, else 2007 */
	__u64 is_raw_largest;      /* the largest queueing delay is that of each sample, else of the smoothed round trip */
	__u64 is_flat;             /* the curve stays at its maximum behind T2, else rises to 1 at T3 */
	__u64 alpha_rule;          /* enum alpha_rule */
	__u64 grows_on_response;   /* the ACK that causes a response also adds alpha / cwnd */
	__u64 halves_on_loss;      /* else by beta = q / (q + Q) */
	__u64 is_guarded;          /* one response per round trip, to two segments at least, and Q of 10 ms at least */
	__u64 first_threshold;     /* T1 in ns */
	__u64 second_threshold;    /* T2 in ns */
	__u64 maximum_probability; /* at T2; 32 places */
	__u64 largest_alpha;       /* 32 places */
	char name[TCP_CA_NAME_MAX]; /* under which it is registered, for those who ask what is loaded */
};

const volatile struct parameters parameters SEC(".rodata.parameters") = {};
