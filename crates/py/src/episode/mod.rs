//! Runs whose congestion control is a program that decides the window at intervals.

mod control;
mod interval;
mod thread;
mod window;

pub(crate) use control::load_agent;
pub(crate) use thread::Episode;
