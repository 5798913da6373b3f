//! A half-open handshake, in as few bytes as it can be continued from.

use crate::config::Config;
use crate::connection::{Connection, Identity};
use crate::trace::Cx;
use core::num::NonZeroU16;
use earlybird_units::{Instant, SeedTree};
use earlybird_wire::{Addresses, Ecn, Flags, Options, Segment, SeqNum, SkipNotice, Timestamps};

/// The state of a handshake whose SYN was answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct HalfOpen {
    pub(super) addresses: Addresses,
    pub(super) identity: Identity,
    /// Number of the peer's SYN.
    pub(super) origin: SeqNum,
    pub(super) mss: Option<NonZeroU16>,
    pub(super) window_scale: Option<u8>,
    pub(super) has_sack: bool,
    pub(super) offers_snack: bool,
    pub(super) timestamp: Option<u32>,
    pub(super) flags: Flags,
    pub(super) ecn: Ecn,
    /// The time of the first SYN-ACK.
    pub(super) answered_at: Instant,
    /// The time of the next retransmission of the SYN-ACK.
    pub(super) deadline: Instant,
    /// The number of retransmissions by the timer.
    pub(super) retransmissions: u8,
    /// Whether it was sent again because the SYN was: its RTT is ambiguous (Karn's rule).
    pub(super) was_syn_retransmitted: bool,
}

impl HalfOpen {
    /// Returns the state for a SYN that is answered now.
    pub(super) fn new(addresses: &Addresses, identity: Identity, now: Instant, syn: &Segment) -> Self {
        Self {
            addresses: *addresses,
            identity,
            origin: syn.seq,
            mss: syn.options.mss,
            window_scale: syn.options.window_scale,
            has_sack: syn.options.sack_permitted,
            offers_snack: syn.options.skip_notice == Some(SkipNotice::Offer),
            timestamp: syn.options.timestamps.map(|stamps| stamps.value),
            flags: syn.flags,
            ecn: syn.ecn,
            answered_at: now,
            deadline: Instant::NEVER,
            retransmissions: 0,
            was_syn_retransmitted: false,
        }
    }

    /// Reconstructs the SYN, without data.
    fn syn(&self) -> Segment {
        Segment {
            seq: self.origin,
            flags: self.flags,
            ecn: self.ecn,
            options: Options {
                mss: self.mss,
                window_scale: self.window_scale,
                sack_permitted: self.has_sack,
                timestamps: self.timestamp.map(|value| Timestamps { value, echo: 0 }),
                skip_notice: self.offers_snack.then_some(SkipNotice::Offer),
                ..Options::default()
            },
            ..Segment::default()
        }
    }

    /// Rebuilds the connection as if it had existed since the SYN. Returns it with the last answer.
    pub(super) fn rebuild(&self, config: &Config, seeds: SeedTree) -> (Connection, Option<Segment>) {
        let mut connection = Connection::listen_as(config, self.identity, seeds);
        let cx = &mut Cx { now: self.answered_at, trace: &mut () };
        connection.on_segment(cx, &self.syn());
        // Replays the handshake: the same code decides about RTO back-off and options as for any connection.
        let mut answer = connection.poll_transmit(cx);
        for _ in 0..self.retransmissions {
            let Some(at) = connection.poll_timeout() else { break };
            cx.now = at;
            connection.on_timeout(cx);
            answer = connection.poll_transmit(cx).or(answer);
        }
        // After the replay of the timer, so that Karn's rule sees a retransmission in any case.
        if self.was_syn_retransmitted {
            connection.on_segment(cx, &self.syn());
            answer = connection.poll_transmit(cx).or(answer);
        }
        (connection, answer.map(|transmit| transmit.segment))
    }

    /// Returns the answer that is due now, and updates the deadline.
    pub(super) fn answer(&mut self, config: &Config) -> Option<Segment> {
        let (connection, answer) = self.rebuild(config, SeedTree::new(0));
        self.deadline = connection.poll_timeout().unwrap_or(Instant::NEVER);
        answer
    }
}
