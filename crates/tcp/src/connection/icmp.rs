//! What routers say about the path (RFC 1191, 8201, 5461, 5927).

use super::Connection;
use super::closing::Ending;
use super::state::State;
use crate::policy::segmentation::IpVersion;
use crate::trace::Cx;
use earlybird_wire::{SeqNum, Trouble};

impl Connection {
    /// Learns from a router that packets of more than `mtu` bytes, IP header included, do not pass; `seq` is the number of the
    /// segment that it quotes. Says whether it is believed: that segment must be outstanding, and larger than that.
    ///
    /// Segments are cut smaller from now on, and what is outstanding goes again in pieces. After ten minutes they are as large
    /// as they were, if no router objects (RFC 1191 §6.3, RFC 8201 §5.3). Of less than 552 bytes (IPv4, as in Linux) no report is
    /// believed: that is what it counts as; of less than 1280 (IPv6) it is no report (RFC 8201 §4).
    pub fn on_path_mtu(&mut self, cx: &mut Cx<'_>, mtu: u16, seq: SeqNum) -> bool {
        let ip = self.config.segments.ip;
        if ip == IpVersion::V6 && mtu < ip.least_path_mtu() {
            return false;
        }
        let whole = ip.mss_within(mtu.max(ip.least_path_mtu()));
        if self.state == State::SynSent {
            return self.on_opening_too_big(whole, seq);
        }
        let position = self.outstanding_position(seq).filter(|_| matches!(self.state, State::Transfer(_)));
        position.is_some_and(|position| self.sender.on_path_limit(cx.now, u64::from(whole), position))
    }

    /// The SYN was too big, for it carried data (RFC 7413 §4.2.1): it goes again at once, without, and tells a shorter segment.
    fn on_opening_too_big(&mut self, whole: u16, seq: SeqNum) -> bool {
        let is_ours = seq == self.local_origin && self.fast_open().is_some_and(|outcome| outcome.carried > 0);
        if !is_ours || whole >= self.config.segments.mss {
            return false;
        }
        self.config.segments.mss = whole;
        self.sender.set_segment_size(u64::from(whole));
        self.due.opening = true;
        true
    }

    /// Learns from a router, or from the peer, that a segment with number `seq` did not arrive, and says whether it is believed.
    ///
    /// It ends nothing but a connection that is yet to be opened, and that only if trying again is in vain (RFC 9293 §3.9.2.2,
    /// MUST-56; RFC 5461 §4.1): then [`Event::Unreachable`](super::Event::Unreachable) tells. Otherwise it is kept for [`Self::trouble`]: who gives up
    /// later may say why.
    pub fn on_unreachable(&mut self, trouble: Trouble, seq: SeqNum) -> bool {
        if self.outstanding_position(seq).is_none() {
            return false;
        }
        self.trouble = Some(trouble);
        if self.state == State::SynSent && trouble.is_hard() {
            self.end(Ending::Unreachable);
        }
        true
    }

    /// Returns the last thing that was reported of a segment that did not arrive.
    pub fn trouble(&self) -> Option<Trouble> {
        self.trouble
    }

    /// Returns the stream position of a number that is sent and not acknowledged (RFC 5927 §4.1).
    fn outstanding_position(&self, seq: SeqNum) -> Option<u64> {
        let scoreboard = &self.sender.buffer().scoreboard();
        let position = seq.unwrap_near(self.local_origin, scoreboard.una_position())?;
        (scoreboard.una_position()..scoreboard.end_position()).contains(&position).then_some(position)
    }
}
