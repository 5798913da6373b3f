//! The state of TCP Fast Open (RFC 7413): data on the SYN, and a connection that is used before its handshake ends.

use crate::config::Config;
use crate::policy::segmentation::{ALL_OPTIONS, IpVersion};
use core::num::NonZeroU16;
use earlybird_wire::{FastOpen, Flags, Options, Segment};

/// The Fast Open request or cookie of a SYN, from a client's cache of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastOpenOffer {
    /// Requests a cookie; the SYN carries no data.
    Request {
        /// Whether the option has the experimental kind, for a server or path that ignored the request with the assigned one.
        is_experimental: bool,
    },
    /// Uses a cookie that the server has sent before.
    Cookie {
        /// The cookie.
        cookie: FastOpen,
        /// The MSS that the server advertised with it.
        mss: Option<NonZeroU16>,
    },
    /// Sends data without a cookie, to a server that is known to require none.
    WithoutCookie {
        /// The MSS that the server advertised before.
        mss: Option<NonZeroU16>,
    },
}

/// The result of [`Connection::open_fast`](super::Connection::open_fast), for the driver's cache. It is complete when
/// [`Event::Established`](super::Event::Established) is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastOpenOutcome {
    /// Bytes that the SYN carried.
    pub carried: u64,
    /// Bytes of them that the server accepted. The others are sent again after the handshake, which does not count as a loss.
    pub accepted: u64,
    /// The cookie to use from now on, if the server sent one.
    pub cookie: Option<FastOpen>,
    /// The MSS that the server advertised, to be cached with the cookie; `None` before its answer.
    pub mss: Option<NonZeroU16>,
    /// Whether the SYN was retransmitted, without option and data: a middlebox may have dropped those (RFC 7413 §4.2.1).
    pub was_retransmitted: bool,
}

/// The state of a connection with Fast Open.
#[derive(Clone, Copy, Debug)]
pub(super) enum FastOpenState {
    /// The side that sends the SYN.
    Client { offer: FastOpenOffer, outcome: FastOpenOutcome },
    /// The side that accepted data from the SYN.
    Server {
        /// A cookie to send with the first SYN-ACK.
        cookie: Option<FastOpen>,
        /// Whether the SYN-ACK was retransmitted: the data behind it then wait for the handshake.
        was_retransmitted: bool,
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

    /// Returns the most data that the SYN may carry (RFC 7413 §4.2.1).
    fn room(self, ip: IpVersion) -> u64 {
        // As in Linux: all of the option space stays free, because middleboxes may add options to a SYN.
        match self {
            Self::Request { .. } => 0,
            Self::Cookie { mss, .. } | Self::WithoutCookie { mss } => {
                u64::from(mss.map_or(ip.default_mss(), NonZeroU16::get)).saturating_sub(ALL_OPTIONS)
            }
        }
    }
}

impl FastOpenState {
    /// Returns the state of a client that makes this offer.
    pub(super) fn client(offer: FastOpenOffer) -> Self {
        Self::Client { offer, outcome: FastOpenOutcome::default() }
    }

    /// Returns the state of a server that sends this cookie.
    pub(super) fn server(cookie: Option<FastOpen>) -> Self {
        Self::Server { cookie, was_retransmitted: false }
    }

    /// Returns the result of a client's offer.
    pub(super) fn outcome(&self) -> Option<FastOpenOutcome> {
        match self {
            Self::Client { outcome, .. } => Some(*outcome),
            Self::Server { .. } => None,
        }
    }

    /// Returns the most bytes that the SYN carries.
    pub(super) fn room_on_syn(&self, config: &Config) -> u64 {
        let own = u64::from(config.segments.mss).saturating_sub(ALL_OPTIONS);
        match self {
            // Frames never ride on a SYN: it is not cut by the send buffer.
            Self::Client { offer, .. } if !config.real_time.framing => offer.room(config.segments.ip).min(own),
            Self::Client { .. } | Self::Server { .. } => 0,
        }
    }

    /// Returns whether this side accepted data from the SYN.
    pub(super) fn is_server(&self) -> bool {
        matches!(self, Self::Server { .. })
    }

    /// Returns whether data may be sent before the handshake is done.
    pub(super) fn may_send_early(&self) -> bool {
        matches!(self, Self::Server { was_retransmitted: false, .. })
    }

    /// Adds Fast Open to the options of a SYN or SYN-ACK; returns how many of the `unsent` bytes it carries.
    pub(super) fn add_to_syn(&mut self, is_retransmission: bool, unsent: u64, options: &mut Options) -> u64 {
        // Only the first time (RFC 7413 §4.2.1): a middlebox may have dropped the segment because of it.
        match self {
            Self::Client { outcome, .. } if is_retransmission => {
                outcome.was_retransmitted = true;
                0
            }
            Self::Server { was_retransmitted, .. } if is_retransmission => {
                *was_retransmitted = true;
                0
            }
            Self::Client { offer, outcome } => {
                if let Some(option) = offer.option() {
                    let with_option = options.with_fast_open(option);
                    // A cookie that does not fit beside the other options: an ordinary SYN.
                    if with_option.wire_len() as u64 > ALL_OPTIONS {
                        return 0;
                    }
                    *options = with_option;
                }
                outcome.carried = unsent;
                unsent
            }
            Self::Server { cookie, .. } => {
                if let Some(cookie) = cookie {
                    *options = options.with_fast_open(*cookie);
                }
                0
            }
        }
    }

    /// Reads the server's answer, which accepts data up to stream position `ack`; returns how many bytes it accepted and how many
    /// it left.
    pub(super) fn on_answer(&mut self, answer: &Segment, ack: u64, ip: IpVersion) -> Option<(u64, u64)> {
        let Self::Client { offer, outcome } = self else { return None };
        outcome.accepted = (ack - 1).min(outcome.carried);
        if answer.flags.contains(Flags::SYN) {
            outcome.mss = answer.options.mss.or(NonZeroU16::new(ip.default_mss()));
            // A cookie that was not requested is ignored.
            let has_asked = offer.option().is_some();
            outcome.cookie = answer.options.fast_open().filter(|option| has_asked && !option.is_request());
        }
        Some((outcome.accepted, outcome.carried - outcome.accepted))
    }
}
