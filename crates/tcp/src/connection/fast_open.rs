//! TCP Fast Open (RFC 7413): data on the SYN, and a connection that is used before its handshake ends.

use super::state::State;
use super::{AcceptedRange, Connection, Identity};
use crate::config::Config;
use crate::policy::segmentation::{ALL_OPTIONS, IpVersion};
use crate::trace::Cx;
use alloc::boxed::Box;
use core::num::NonZeroU16;
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{FastOpen, Flags, Options, Segment};

/// What a client's cache says of a server: what the SYN asks for, or uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastOpenOffer {
    /// Asks for a cookie; the SYN carries no data.
    Request {
        /// Under the kind that experiments share, for a server or a path that ignored the request under its own.
        is_experimental: bool,
    },
    /// Uses a cookie that the server gave before.
    Cookie {
        /// That cookie.
        cookie: FastOpen,
        /// The MSS that the server told then.
        mss: Option<NonZeroU16>,
    },
    /// Sends data without a cookie, to a server that is known to ask for none.
    WithoutCookie {
        /// The MSS that the server told before.
        mss: Option<NonZeroU16>,
    },
}

/// What came of [`Connection::open_fast`], for the cache of the driver: complete when
/// [`Event::Established`](super::Event::Established) is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastOpenOutcome {
    /// Bytes that the SYN carried.
    pub carried: u64,
    /// Bytes of them that the server took. The others are sent again behind the handshake: that is not a loss.
    pub accepted: u64,
    /// The cookie to use from now on, if the server gave one and was asked for it, or was shown another.
    pub cookie: Option<FastOpen>,
    /// The MSS that the server told, to be kept with the cookie; `None` before its answer.
    pub mss: Option<NonZeroU16>,
    /// The SYN had to be repeated, without option and data: they may be what a middlebox dropped (RFC 7413 §4.2.1).
    pub was_repeated: bool,
}

/// What a connection with Fast Open keeps beside others.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fast {
    /// The side that opened.
    Client { offer: FastOpenOffer, outcome: FastOpenOutcome },
    /// The side that took data from the SYN.
    Server {
        /// A cookie to give with the first answer.
        cookie: Option<FastOpen>,
        /// The answer went more than once: what was sent behind it waits for the handshake.
        is_repeating: bool,
    },
}

impl FastOpenOffer {
    fn option(self) -> Option<FastOpen> {
        match self {
            Self::Request { is_experimental } => Some(FastOpen::REQUEST.experimental(is_experimental)),
            Self::Cookie { cookie, .. } => Some(cookie),
            Self::WithoutCookie { .. } => None,
        }
    }

    /// Returns the most data that the SYN may carry (RFC 7413 §4.2.1) beside as many options as a header can have: middleboxes
    /// may add to those of a SYN (as Linux).
    fn room(self, ip: IpVersion) -> u64 {
        match self {
            Self::Request { .. } => 0,
            Self::Cookie { mss, .. } | Self::WithoutCookie { mss } => {
                u64::from(mss.map_or(ip.default_mss(), NonZeroU16::get)).saturating_sub(ALL_OPTIONS)
            }
        }
    }
}

impl Connection {
    /// Lets the SYN ask for a Fast Open cookie, or carry what was written before it leaves: to be called between
    /// [`Self::connect_as`] and the first [`Self::poll_transmit`].
    ///
    /// Data on a SYN may reach the application of the server twice (RFC 7413 §2.1): it is for the application to allow that.
    /// Frames never ride on a SYN.
    pub fn open_fast(&mut self, offer: FastOpenOffer) {
        if self.state == State::SynSent && self.sender.buffer().scoreboard().smax() == 0 {
            self.fast = Some(Box::new(Fast::Client { offer, outcome: FastOpenOutcome::default() }));
        }
    }

    /// Returns the most bytes of what is written that the SYN carries; 0 if it was not asked for by [`Self::open_fast`].
    pub fn room_on_syn(&self) -> u64 {
        let own = u64::from(self.config.segments.mss).saturating_sub(ALL_OPTIONS);
        match self.fast.as_deref() {
            Some(Fast::Client { offer, .. }) if !self.config.real_time.framing => {
                offer.room(self.config.segments.ip).min(own)
            }
            Some(Fast::Client { .. } | Fast::Server { .. }) | None => 0,
        }
    }

    /// Says what came of [`Self::open_fast`]; `None` without it.
    pub fn fast_open(&self) -> Option<FastOpenOutcome> {
        match self.fast.as_deref() {
            Some(Fast::Client { outcome, .. }) => Some(*outcome),
            Some(Fast::Server { .. }) | None => None,
        }
    }

    /// Opens a connection for a SYN whose data may be believed before its sender proved to be where it says: its cookie is
    /// right, or none is asked for. The data can be read and answered at once.
    ///
    /// `cookie` goes back with the first SYN-ACK. Drain [`Self::poll_transmit`] as after any other call.
    pub fn accept_fast(
        cx: &mut Cx<'_>,
        config: &Config,
        identity: Identity,
        seeds: SeedTree,
        syn: &Segment,
        cookie: Option<FastOpen>,
    ) -> (Self, AcceptedRange) {
        let mut connection = Self::listen_as(config, identity, seeds);
        connection.on_segment(cx, syn);
        if connection.state != State::SynReceived {
            return (connection, AcceptedRange::default());
        }
        connection.fast = Some(Box::new(Fast::Server { cookie, is_repeating: false }));
        connection.sender.on_opened_early(cx, u64::from(syn.window));
        let taken = connection.take_opening_payload(cx, syn.len, false);
        (connection, taken)
    }

    /// Takes what a SYN or SYN-ACK carries.
    pub(super) fn take_opening_payload(&mut self, cx: &mut Cx<'_>, len: u16, has_fin: bool) -> AcceptedRange {
        let end = 1 + u64::from(len) + u64::from(has_fin);
        let taken = if end > 1 { self.on_payload(cx, 1..end, has_fin) } else { AcceptedRange::default() };
        self.close_if_finished(cx.now);
        taken
    }

    /// Returns whether data may leave although the handshake goes on.
    #[cold]
    pub(super) fn may_send_early(&self) -> bool {
        matches!(self.fast.as_deref(), Some(Fast::Server { is_repeating: false, .. }))
    }

    /// Returns whether this side took data from the SYN.
    pub(super) fn is_fast_server(&self) -> bool {
        matches!(self.fast.as_deref(), Some(Fast::Server { .. }))
    }

    /// Returns the round trip of an answer that data may follow at once, if it was sent only once.
    pub(super) fn early_rtt(&self, now: Instant) -> Option<Duration> {
        self.may_send_early().then(|| self.sender.syn_ack_rtt(now))
    }

    /// Puts onto an opening segment what Fast Open adds to it: the first time only (RFC 7413 §4.2.1). Gives the length of the
    /// data.
    pub(super) fn add_fast_open(&mut self, is_retransmission: bool, options: &mut Options) -> u64 {
        let carried = self.sender.buffer().queue().unsent().min(self.room_on_syn());
        match self.fast.as_deref_mut() {
            Some(Fast::Client { outcome, .. }) if is_retransmission => outcome.was_repeated = true,
            Some(Fast::Client { offer, outcome }) => {
                if let Some(option) = offer.option() {
                    let with_option = options.with_fast_open(option);
                    if with_option.wire_len() as u64 > ALL_OPTIONS {
                        return 0;
                    }
                    *options = with_option;
                }
                outcome.carried = carried;
                return carried;
            }
            Some(Fast::Server { is_repeating, .. }) if is_retransmission => *is_repeating = true,
            Some(Fast::Server { cookie: Some(cookie), .. }) => *options = options.with_fast_open(*cookie),
            Some(Fast::Server { cookie: None, .. }) | None => {}
        }
        0
    }

    /// Returns the position behind the last byte that was ever sent, on the SYN too.
    pub(super) fn sent_end(&self) -> u64 {
        let carried = self.fast_open().map_or(0, |outcome| outcome.carried);
        self.sender.buffer().scoreboard().end_position().max(1 + carried)
    }

    /// Learns what the server's answer says of the SYN, and that it took its data up to stream position `ack`. Gives how many
    /// bytes it left.
    pub(super) fn learn_fast_open(&mut self, answer: &Segment, ack: u64) -> u64 {
        let Some(Fast::Client { offer, outcome }) = self.fast.as_deref_mut() else { return 0 };
        outcome.accepted = (ack - 1).min(outcome.carried);
        if answer.flags.contains(Flags::SYN) {
            outcome.mss = answer.options.mss.or(NonZeroU16::new(self.config.segments.ip.default_mss()));
            let has_asked = offer.option().is_some();
            outcome.cookie = answer.options.fast_open().filter(|option| has_asked && !option.is_request());
        }
        let FastOpenOutcome { accepted, carried, .. } = *outcome;
        self.sender.on_syn_data_accepted(accepted);
        carried - accepted
    }
}
