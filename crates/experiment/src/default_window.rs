//! The largest window of a sender whose scenario names none: no smaller than its network asks for.

use crate::topology::RoutePair;
use earlybird_scenario::{Endpoint, Profile};
use earlybird_sim::{Carrier, EndpointSettings, LinkSettings, Network, RouteId};
use earlybird_tcp::Config;
use earlybird_units::Instant;

/// How many times what a way holds (rate × round trip) the largest window is: as much again may wait in queues, and a
/// window that loses half still fills the way.
const ROOM: f64 = 2.0;

/// Returns whether the network decides: ns-2's windows are 64 segments, and who names a window or a buffer means it.
pub(crate) fn is_open(endpoint: &Endpoint) -> bool {
    endpoint.profile != Profile::Ns2 && endpoint.window.is_none() && endpoint.receive_buffer.is_none()
}

/// Widens the windows of both ends to what the longest of the ways asks for; never narrows them.
pub(crate) fn fitted(carrier: Carrier, network: &Network, pairs: &[RoutePair], end: Instant) -> Carrier {
    let Carrier::Tcp(settings) = carrier else { return carrier };
    let bytes = pairs.iter().map(|pair| ROOM * held(network, *pair, end)).fold(0.0, f64::max);
    let widened = |config: Config| config.with_max_window(config.window.max.max(segments(bytes, config.segments.mss)));
    Carrier::Tcp(EndpointSettings {
        opener: widened(settings.opener),
        listener: widened(settings.listener),
        ..settings
    })
}

fn segments(bytes: f64, mss: u16) -> u32 {
    (bytes / f64::from(mss)).ceil() as u32
}

/// Returns the bytes that a way there and back holds at the rate of its slowest link.
fn held(network: &Network, pair: RoutePair, end: Instant) -> f64 {
    let round_trip = network.delay(pair.there) + network.delay(pair.back);
    slowest(network, pair.there, end) / 8.0 * round_trip.as_secs_f64()
}

/// Returns the bits per second of a way's slowest link, over the whole run if they change.
fn slowest(network: &Network, route: RouteId, end: Instant) -> f64 {
    let rate = |settings: &LinkSettings| settings.bits_before(end) / end.as_secs_f64();
    network.links_of(route).map(|link| rate(network.link(link).settings())).fold(f64::INFINITY, f64::min)
}
