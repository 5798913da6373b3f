//! Packets of real networks on simulated links: in a test's own time, and between two namespaces of this machine.

mod carrying;
mod crossing;
mod line;
