//! The default of the largest window: the path's BDP decides if the scenario does not.

use crate::topology::RoutePair;
use earlybird_scenario::{Endpoint, Profile};
use earlybird_sim::{Carrier, EndpointSettings, LinkSettings, Network, RouteId};
use earlybird_tcp::Config;
use earlybird_units::Instant;

/// The largest window divided by the BDP of the path: as much again may wait in queues, and a
/// window that is halved still fills the path.
const ROOM: f64 = 2.0;

/// Returns whether the path decides: ns-2's windows are 64 segments, and explicit windows and buffers are kept.
pub(crate) fn is_open(endpoint: &Endpoint) -> bool {
    endpoint.profile != Profile::Ns2 && endpoint.window.is_none() && endpoint.receive_buffer.is_none()
}

/// Raises the windows of both ends to the need of the path with the largest BDP.
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

/// Returns the BDP of a pair of routes in bytes, at the rate of the slowest link.
fn held(network: &Network, pair: RoutePair, end: Instant) -> f64 {
    let round_trip = network.delay(pair.there) + network.delay(pair.back);
    slowest(network, pair.there, end) / 8.0 * round_trip.as_secs_f64()
}

/// Returns the rate of a route's slowest link in bit/s, averaged over the run if it changes.
fn slowest(network: &Network, route: RouteId, end: Instant) -> f64 {
    let rate = |settings: &LinkSettings| settings.bits_before(end) / end.as_secs_f64();
    // The mean over the run, because a trace has moments without any rate.
    network.links_of(route).map(|link| rate(network.link(link).settings())).fold(f64::INFINITY, f64::min)
}
