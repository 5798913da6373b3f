//! Quinn in a simulated network: what RFC 9000, 9002 and 9221 ask for, in times.

mod carriage;
mod harness;
mod recovery;
