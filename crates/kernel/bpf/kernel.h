/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel types: only the fields that PERT uses, relocated by name at load time (CO-RE), so that one object fits all kernels that
 * have them. No vmlinux.h of a single kernel is needed.
 */
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef __u16 __sum16;

typedef _Bool bool;
#define true 1
#define false 0

/* include/uapi/linux/bpf.h */
enum {
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_F_NO_PREALLOC = 1,
	BPF_SK_STORAGE_GET_F_CREATE = 1,
};

/* include/uapi/linux/tcp.h, enum tcp_ca_state */
enum {
	TCP_CA_CWR = 2,
	TCP_CA_RECOVERY = 3,
	TCP_CA_LOSS = 4,
};

/* include/net/tcp.h: unprivileged users and other network namespaces may select it */
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CA_NAME_MAX 16
#define TCP_INFINITE_SSTHRESH 0x7fffffff

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)


struct sock_common {
	__u32 skc_daddr;
	__u16 skc_dport;
	__u16 skc_num;
	__u16 skc_family;
};

struct sock {
	struct sock_common __sk_common;
};

struct tcp_sock {
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 snd_cwnd;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 prior_cwnd;
	__u32 max_packets_out;
	__u8 is_cwnd_limited : 1;
};

struct ack_sample {
	__s32 rtt_us;
};

#pragma clang attribute pop

/* The members that PERT sets; libbpf maps each by name to the kernel's structure. */
struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	__u32 flags;
	char name[TCP_CA_NAME_MAX];
};
