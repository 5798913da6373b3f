// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Gives the sockets of one control group a congestion control, without anybody's default: `earlybird kernel run`. */
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

const volatile char chosen[TCP_CA_NAME_MAX] SEC(".rodata.chosen") = "pert";

/* Connections that a listener accepts have its congestion control. */
SEC("sockops")
int choose(struct bpf_sock_ops *socket)
{
	char name[TCP_CA_NAME_MAX];

	if (socket->op == BPF_SOCK_OPS_TCP_CONNECT_CB || socket->op == BPF_SOCK_OPS_TCP_LISTEN_CB) {
#pragma unroll
		for (int n = 0; n < TCP_CA_NAME_MAX; n++)
			name[n] = chosen[n]; /* one by one, as the loader writes them: memcpy would take what stands here */
		bpf_setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, sizeof(name));
	}
	return 1;
}
