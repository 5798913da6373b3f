//! Whole worlds: what links, queues and losses do to packets, that nothing gets lost on the way to the count, and that
//! equal seeds give equal runs.

mod allocations;
mod bbr;
mod bbr1;
mod conservation;
mod copa;
mod datagrams;
mod dumbbell;
mod event_driven;
mod fading;
mod hollywood;
mod impairments;
mod losses;
mod marking;
mod markov;
mod observers;
mod packet_network;
mod prague;
mod queues;
mod rates;
mod real_time;
mod repeatability;
mod serialisation;
mod sessions;
mod tfrc;
mod viewers;
