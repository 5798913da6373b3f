//! The endpoint as packetdrill loads it: a host with Linux's sockets over [`earlybird_tcp`], under a virtual clock.
//!
//! packetdrill (<https://github.com/google/packetdrill>) runs scripts of system calls, packets and times against an
//! implementation of TCP: the kernel's, or one in a shared library that fills in its table of functions. This is that
//! library. Everything that is Linux's and not TCP's stands here: descriptors, the sockets' calls and error codes, blocking,
//! `tcp_info`, where a push flag stands, the accounting of the send buffer.
//!
//! Some of what scripts do goes to the C library and not through the table: the library is preloaded as well, and takes
//! those calls that are about its own descriptors.
#![allow(unsafe_code, reason = "the interface is a C structure of functions and raw pointers")]
#![allow(clippy::cast_possible_wrap, reason = "C's integers are signed where counts are meant")]

mod calls;
mod clock;
mod cookies;
mod device;
mod epoll;
mod fast_open;
mod feeding;
mod flow;
mod info;
mod interface;
mod limits;
mod notifications;
mod packet;
mod preload;
mod send_queue;
mod socket;
mod sysctl;
mod urgent;
mod world;
