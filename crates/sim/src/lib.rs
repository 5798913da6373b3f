//! A packet-level network simulator: links, queues, losses, routes, and the endpoints at their ends.
//!
//! Events happen in the order (time, kind, number), which belongs to the model and not to the code: results do not
//! depend on when an event was scheduled. A packet is written into a place and stays there while it travels; nothing is
//! allocated per packet once the buffers have grown.
#![forbid(unsafe_code)]

mod agent;
mod endpoint;
mod event_queue;
mod events;
mod external_stack;
mod flow_stats;
mod forwarding;
mod ids;
mod impairment;
mod link;
mod loss;
mod network;
mod observer;
mod outages;
mod packet;
mod packet_filter;
mod packet_network;
mod packet_pool;
mod payloads;
mod service_schedule;
mod timestamp;
mod transmission_clock;
mod udp_agent;
mod unit_io;
mod world;

pub use earlybird_queue::{
    CodelSettings, Discipline, DualPi2Settings, FqCodelSettings, PieSettings, QueueLimit, RedSettings,
};
pub use endpoint::{Carrier, DatagramSettings, EndpointSettings, ExternalSettings, HeaderSize};
pub use external_stack::{ExternalConnection, ExternalDatagram, ExternalEvent, ExternalStack, ExternalState};
pub use flow_stats::{FlowEnd, FlowGauges};
pub use ids::{EndpointId, FlowId, GroupId, LinkId, NodeId, RouteId};
pub use impairment::{
    Arq, ArqSettings, CorrelatedBernoulli, DelayCorrelation, DelayDistribution, DelaySpikes, Duplication, Impairments,
    Jitter, JitterSettings, Reordering,
};
pub use link::{Arrivals, Counters, Link, LinkCounts, LinkReading, LinkSettings};
pub use loss::{Fading, FourState, GilbertElliott, Loss, LossRule, Policer};
pub use network::{Network, NoRoute, fewest_links};
pub use observer::{DropCause, Observer, PacketEvent};
pub use outages::{Outage, Outages};
pub use packet::{Content, Packet};
pub use packet_filter::PacketFilter;
pub use packet_network::PacketNetwork;
pub use service_schedule::RateChanges;
pub use world::{FlowSettings, World};
