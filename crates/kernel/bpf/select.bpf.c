// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Set the congestion control of the sockets of one cgroup, without changing a default: `earlybird kernel run`. */
#include "kernel.h"
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "Dual BSD/GPL";

/* include/uapi/linux/bpf.h and tcp.h */
#define BPF_SOCK_OPS_TCP_CONNECT_CB 3
#define BPF_SOCK_OPS_TCP_LISTEN_CB 11
#define IPPROTO_TCP 6
#define TCP_CONGESTION 13

struct bpf_sock_ops {
	__u32 op;
};

const volatile char selected[TCP_CA_NAME_MAX] SEC(".rodata.selected") = "pert";

/* Accepted connections inherit the congestion control of their listener. */
SEC("sockops")
int select_control(struct bpf_sock_ops *socket)
{
	char name[TCP_CA_NAME_MAX];

	if (socket->op == BPF_SOCK_OPS_TCP_CONNECT_CB || socket->op == BPF_SOCK_OPS_TCP_LISTEN_CB) {
#pragma unroll
		for (int n = 0; n < TCP_CA_NAME_MAX; n++)
			name[n] = selected[n]; /* not memcpy: clang would fold the initial value; the loader replaces it */
		bpf_setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, sizeof(name));
	}
	return 1;
}
