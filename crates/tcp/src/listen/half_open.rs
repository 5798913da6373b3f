//! A handshake of which the last part is missing, in as few bytes as it can be gone on with.

use crate::config::Config;
use crate::connection::{Connection, Identity};
use crate::trace::Cx;
use core::num::NonZeroU16;
use earlybird_units::{Instant, SeedTree};
use earlybird_wire::{Addresses, Ecn, Flags, Options, Segment, SeqNum, SkipNotice, Timestamps};

/// A SYN that was answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct HalfOpen {
    pub(super) addresses: Addresses,
    pub(super) identity: Identity,
    /// Number of the peer's SYN.
    pub(super) origin: SeqNum,
    pub(super) mss: Option<NonZeroU16>,
    pub(super) window_scale: Option<u8>,
    pub(super) has_sack: bool,
    pub(super) offers_notice: bool,
    pub(super) timestamp: Option<u32>,
    pub(super) flags: Flags,
    pub(super) ecn: Ecn,
    /// When the SYN was first answered.
    pub(super) answered_at: Instant,
    /// When the answer goes again.
    pub(super) deadline: Instant,
    /// How often it went again for want of an ACK.
    pub(super) repeats: u8,
    /// It went again because the SYN did: its round trip cannot be known (Karn's rule).
    pub(super) was_asked_again: bool,
}

impl HalfOpen {
    /// Remembers what counts of a SYN that is answered now.
    pub(super) fn new(addresses: &Addresses, identity: Identity, now: Instant, syn: &Segment) -> Self {
        Self {
            addresses: *addresses,
            identity,
            origin: syn.seq,
            mss: syn.options.mss,
            window_scale: syn.options.window_scale,
            has_sack: syn.options.sack_permitted,
            offers_notice: syn.options.skip_notice == Some(SkipNotice::Offer),
            timestamp: syn.options.timestamps.map(|stamps| stamps.value),
            flags: syn.flags,
            ecn: syn.ecn,
            answered_at: now,
            deadline: Instant::NEVER,
            repeats: 0,
            was_asked_again: false,
        }
    }

    /// Returns the SYN back, without data.
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
                skip_notice: self.offers_notice.then_some(SkipNotice::Offer),
                ..Options::default()
            },
            ..Segment::default()
        }
    }

    /// Makes the connection that this handshake belongs to, as if it had been there from the SYN on; gives it with the last
    /// answer.
    pub(super) fn relive(&self, config: &Config, seeds: SeedTree) -> (Connection, Option<Segment>) {
        let mut connection = Connection::listen_as(config, self.identity, seeds);
        let cx = &mut Cx { now: self.answered_at, trace: &mut () };
        connection.on_segment(cx, &self.syn());
        let mut answer = connection.poll_transmit(cx);
        for _ in 0..self.repeats {
            let Some(at) = connection.poll_timeout() else { break };
            cx.now = at;
            connection.on_timeout(cx);
            answer = connection.poll_transmit(cx).or(answer);
        }
        if self.was_asked_again {
            connection.on_segment(cx, &self.syn());
            answer = connection.poll_transmit(cx).or(answer);
        }
        (connection, answer.map(|transmit| transmit.segment))
    }

    /// Returns the answer that is due now, and notes when the next one is.
    pub(super) fn answer(&mut self, config: &Config) -> Option<Segment> {
        let (connection, answer) = self.relive(config, SeedTree::new(0));
        self.deadline = connection.poll_timeout().unwrap_or(Instant::NEVER);
        answer
    }
}
