//! Real packets over simulated links: with a manual clock, and between two namespaces.

mod bridge;
mod forwarding;
mod links;
