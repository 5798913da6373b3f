//! QUIC by the library quinn (`quinn-proto`), as an external stack of the simulator.
//!
//! Everything that decides what is sent when is quinn's: its packets, acknowledgements, loss recovery, congestion controls,
//! pacing, flow control and search for the path's packet size, with its defaults. Ours are the clock, the random numbers, the
//! [cryptography](null) and how an [application's units](Carriage) are put on it.
#![forbid(unsafe_code)]

mod clock;
mod inbox;
mod log;
mod null;
mod outbox;
mod peer;
mod probe_timeouts;
mod settings;

use earlybird_sim::{ExternalConnection, ExternalStack};
use earlybird_units::{Instant, SeedTree};

/// The largest payload of a datagram: what quinn's search for the packet size tries at most, Ethernet's 1500 bytes less IPv6's
/// and UDP's headers (`MtuDiscoveryConfig::upper_bound`).
pub const LARGEST_PAYLOAD: u16 = 1452;

/// The mapping of units to QUIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Carriage {
    /// All in one stream: every unit waits for those before it.
    Stream,
    /// Each in a stream of its own: all are repaired, and none waits for another one.
    Streams,
    /// Cut into datagrams (RFC 9221), of which none is repaired.
    Datagrams,
}

/// Which of quinn's congestion controls decides.
///
/// Its BBR is not among them: it draws where to begin a cycle of gains from the machine's random numbers, whatever the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Control {
    /// CUBIC (RFC 8312), its default.
    Cubic,
    /// `NewReno` (RFC 9002 §7).
    NewReno,
}

/// Quinn with a choice of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Quinn {
    carriage: Carriage,
    control: Control,
}

/// Returns the stack that carries units so, under this control.
pub fn stack(carriage: Carriage, control: Control) -> &'static dyn ExternalStack {
    const fn quinn(carriage: Carriage, control: Control) -> Quinn {
        Quinn { carriage, control }
    }
    // Settings hold a `&'static dyn ExternalStack`, so that all variants are constants.
    static ALL: [Quinn; 6] = [
        quinn(Carriage::Stream, Control::Cubic),
        quinn(Carriage::Stream, Control::NewReno),
        quinn(Carriage::Streams, Control::Cubic),
        quinn(Carriage::Streams, Control::NewReno),
        quinn(Carriage::Datagrams, Control::Cubic),
        quinn(Carriage::Datagrams, Control::NewReno),
    ];
    &ALL[2 * carriage as usize + control as usize]
}

impl ExternalStack for Quinn {
    fn pair(&self, now: Instant, seeds: SeedTree) -> [Box<dyn ExternalConnection>; 2] {
        let client = peer::Peer::connect(now, *self, seeds.child("opener"));
        let server = peer::Peer::listen(*self, seeds.child("listener"));
        [Box::new(client), Box::new(server)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    fn every_choice_has_its_stack(
        #[values(Carriage::Stream, Carriage::Streams, Carriage::Datagrams)] carriage: Carriage,
        #[values(Control::Cubic, Control::NewReno)] control: Control,
    ) {
        let described = format!("{:?}", stack(carriage, control));
        assert_eq!(described, format!("{:?}", Quinn { carriage, control }));
    }
}
