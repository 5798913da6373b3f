//! A packet-level network simulator: links, queues, losses, routes, and the endpoints at their ends.
//!
//! Events happen in the order (time, kind, number), which belongs to the model and not to the code: results do not
//! depend on when an event was scheduled. Packets travel by value through first-in-first-out pipes, so the event queue
//! holds links and not packets, and nothing is allocated per packet once the buffers have grown.
#![forbid(unsafe_code)]

mod endpoint;
mod events;
mod link;
mod loss;
mod moment;
mod network;
mod observer;
mod packet;
mod world;

pub use endpoint::{EndpointId, EndpointSettings, HeaderSize};
pub use link::{Counters, Link, LinkSettings, QueueLimit};
pub use loss::{Loss, LossRule};
pub use network::{LinkId, Network, NoRoute, NodeId, RouteId};
pub use observer::{Observer, PacketEvent};
pub use packet::{FlowId, GroupId, Packet};
pub use world::{AppId, FlowSettings, World};
