//! A packet-level network simulator: links, queues, losses, routes, and the endpoints at their ends.
//!
//! Events happen in the order (time, kind, number), which belongs to the model and not to the code: results do not
//! depend on when an event was scheduled. A packet is written into a place and stays there while it travels; nothing is
//! allocated per packet once the buffers have grown.
#![forbid(unsafe_code)]

mod calendar;
mod courier;
mod endpoint;
mod events;
mod guest;
mod ids;
mod impairment;
mod ledger;
mod link;
mod loss;
mod moment;
mod network;
mod observer;
mod pace;
mod packet;
mod parcels;
mod queue;
mod scope;
mod serialiser;
mod slots;
mod transit;
mod udp;
mod world;

pub use courier::Courier;
pub use endpoint::{Carrier, DatagramSettings, EndpointSettings, GuestSettings, HeaderSize};
pub use guest::{Guest, GuestDatagram, GuestEvent, GuestState, Stack};
pub use ids::{AppId, EndpointId, FlowId, GroupId, LinkId, ListenerId, NodeId, RouteId};
pub use impairment::{Chance, Duplication, Impairments, Reordering};
pub use link::{Counters, Link, LinkSettings};
pub use loss::{Fading, FourState, GilbertElliott, Loss, LossRule};
pub use network::{Network, NoRoute};
pub use observer::{DropCause, Observer, PacketEvent};
pub use pace::RateChanges;
pub use packet::{Content, Packet};
pub use queue::{CodelSettings, Discipline, DualPi2Settings, FqCodelSettings, PieSettings, QueueLimit, RedSettings};
pub use scope::Scope;
pub use world::{FlowSettings, World};
