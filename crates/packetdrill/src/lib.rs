//! The endpoint as a library for packetdrill: a host with Linux's socket API over [`earlybird_tcp`], under a virtual clock.
//!
//! packetdrill (<https://github.com/google/packetdrill>) runs scripts of system calls, packets and times against a TCP
//! implementation: the kernel's, or one in a shared library that fills in its table of functions. This is such a library. It
//! contains what belongs to Linux and not to TCP: descriptors, the calls and error codes of sockets, blocking, `tcp_info`, the
//! position of the PSH flag, and the accounting of the send buffer.
//!
//! Scripts also call functions of the C library directly. The library is therefore preloaded, too, and intercepts these calls for
//! its own descriptors.
#![allow(unsafe_code, reason = "the interface is a C structure of functions and raw pointers")]
#![allow(clippy::cast_possible_wrap, reason = "C's integers are signed where counters are meant")]

mod calls;
mod config;
mod cookie_cache;
mod device;
mod epoll;
mod error_queue;
mod fast_open;
mod handoff;
mod host;
mod host_state;
mod info;
mod interface;

mod packet;
mod preload;
mod send_queue;
mod socket;
mod syscall;
mod sysctl;
mod tcp_sock;
mod time;
