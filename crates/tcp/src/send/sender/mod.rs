//! The sender: composes the parts of the sending half. One function per event shows what each part contributes.

mod ack;
mod real_time;
mod syn_data;
mod timeout;
mod transmit;

pub(crate) use self::ack::AckInfo;
pub(crate) use self::timeout::TimeoutKind;

use super::buffer::SendBuffer;
use super::counters::SenderCounters;
use super::loss::Loss;
use super::partial::PartialReliability;
use super::rate::CongestionState;
use super::rate::ecn::Feedback;
use crate::config::Config;
use crate::policy::control::{Flight, Handshake};
use crate::policy::recovery::SendAllowance;
use crate::trace::Cx;
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Flags, SackBlocks, SeqNum};

/// The sending half of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    buffer: SendBuffer,
    loss: Loss,
    rate: CongestionState,
    partial: PartialReliability,
    counters: SenderCounters,
    ack_path: AckPath,
    send_path: SendPath,
}

/// The information that an ACK is read for, as the configuration and the handshake require.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPath {
    /// Progress and duplicates only.
    Plain,
    /// Also the details for RACK, the detection of spurious retransmissions or the rate sampler.
    WithDetails,
    /// Also frames or marks.
    Full,
}

/// The parts that decide which segment is sent next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SendPath {
    /// Only windows and unsent bytes decide; no part tracks transmissions.
    Plain,
    /// The recovery alone decides, but other parts observe what is sent.
    Observed,
    /// Frames, F-RTO or a FIN may decide before the recovery does.
    Full,
}

impl Sender {
    pub(crate) fn new(config: &Config, seeds: SeedTree) -> Self {
        let (loss, rate) = (Loss::new(config, seeds), CongestionState::new(config, seeds));
        let lists_delivered = loss.is_timed() || rate.has_sampler();
        let mut sender = Self {
            buffer: SendBuffer::new(config, lists_delivered),
            loss,
            rate,
            partial: PartialReliability::new(config.real_time),
            counters: SenderCounters::default(),
            ack_path: AckPath::Full,
            send_path: SendPath::Full,
        };
        sender.refresh_paths();
        sender
    }

    /// Chooses the shortest paths that do what is configured and agreed on. To be called when either changes.
    fn refresh_paths(&mut self) {
        let has_marks = self.rate.ecn().feedback() != Feedback::None;
        let is_watched = self.loss.needs_details() || self.rate.has_sampler();
        self.ack_path = match (self.buffer.has_frames() || has_marks, is_watched) {
            (true, _) => AckPath::Full,
            (false, true) => AckPath::WithDetails,
            (false, false) => AckPath::Plain,
        };
        // A real FIN may take precedence over the recovery, F-RTO does so after a timeout.
        let recovery_selects_segments =
            !self.buffer.size().is_real() && !self.buffer.has_frames() && !self.loss.detects_spurious();
        let is_plain = self.buffer.is_plain() && self.rate.is_plain() && !self.loss.needs_details();
        self.send_path = match (is_plain, recovery_selects_segments) {
            (true, _) => SendPath::Plain,
            (false, true) => SendPath::Observed,
            (false, false) => SendPath::Full,
        };
    }

    // The parts, to be read.

    /// Returns the send buffer.
    #[inline]
    pub(crate) fn buffer(&self) -> &SendBuffer {
        &self.buffer
    }

    /// Returns loss detection.
    #[inline]
    pub(crate) fn loss(&self) -> &Loss {
        &self.loss
    }

    /// Returns congestion control and pacing.
    #[inline]
    pub(crate) fn rate(&self) -> &CongestionState {
        &self.rate
    }

    /// Returns partial reliability.
    pub(crate) fn partial(&self) -> &PartialReliability {
        &self.partial
    }

    /// Returns the counters.
    pub(crate) fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// Returns the pacing rate in full segments per second; `None` before it is known, and without pacing.
    pub(crate) fn pacing_rate(&self) -> Option<f64> {
        self.rate.pacing_rate(self.loss.timer().srtt(), self.buffer.scoreboard().outstanding())
    }

    /// Returns what is in flight, where `outstanding` segments count as that.
    fn flight(&self, outstanding: u64) -> Flight {
        let scoreboard = self.buffer.scoreboard();
        let arrived = scoreboard.una() + scoreboard.sacked().total();
        Flight {
            outstanding,
            sent: self.counters.statistics().segments_sent,
            // Skipped segments were acknowledged, but never arrived.
            arrived: arrived.saturating_sub(self.partial.snack().skipped()),
            missing: None,
        }
    }

    /// Returns the segments that may be sent now.
    #[inline]
    fn allowance(&self) -> SendAllowance {
        self.allowance_with(self.buffer.plain_segment())
    }

    /// Returns the segments that may be sent now, where `plain_segment` of the send buffer is known.
    #[inline]
    fn allowance_with(&self, plain: Option<u64>) -> SendAllowance {
        let has_new = plain.is_some() || self.buffer.new_segment().is_some();
        SendAllowance { cwnd: self.rate.cwnd(), wnd: self.buffer.largest_window(), has_new }
    }

    /// Returns whether neither new data nor a FIN nor a retransmission can be sent, as on the side that only receives.
    #[inline]
    pub(crate) fn has_nothing_to_send(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Returns whether everything written was acknowledged; a FIN may still be outstanding.
    #[inline]
    pub(crate) fn is_drained(&self) -> bool {
        self.buffer.is_drained()
    }

    // The application.

    /// Appends `bytes` to the data to send.
    pub(crate) fn write(&mut self, bytes: u64) {
        // Before the write: after it the sender no longer appears application-limited.
        self.check_app_limited();
        self.buffer.write(bytes);
        self.loss.recovery_mut().on_write();
    }

    /// Queues a FIN after the written data.
    pub(crate) fn queue_fin(&mut self) {
        self.buffer.queue_fin();
    }

    /// Switches Nagle's algorithm. Switched off, waiting data is sent, even behind a cork.
    pub(crate) fn set_nagle(&mut self, nagle: bool) {
        self.buffer.set_nagle(nagle);
        self.refresh_paths();
    }

    /// Sets whether only full segments may be sent.
    pub(crate) fn set_corked(&mut self, is_corked: bool) {
        self.buffer.set_corked(is_corked);
        self.refresh_paths();
    }

    /// Ends a record after the written data: no segment crosses it.
    pub(crate) fn end_record(&mut self) {
        self.buffer.end_record();
        self.refresh_paths();
    }

    /// Checks before a write whether the application has limited the sender, for the rate sampler.
    fn check_app_limited(&mut self) {
        self.rate.check_app_limited(self.buffer.has_unsent());
    }

    /// Checks the same before an ACK or a timer.
    fn recheck_app_limited(&mut self) {
        self.rate.recheck_app_limited(self.buffer.has_unsent());
    }

    // The handshake.

    /// Records that the peer sends SACK blocks.
    pub(crate) fn use_sack(&mut self) {
        self.loss.use_sack();
    }

    /// Replaces a recovery that needs SACK, which the peer does not support.
    pub(crate) fn disable_sack(&mut self, config: &Config) {
        self.loss.use_recovery_without_sack(config);
        let lists_delivered = self.loss.is_timed() || self.rate.has_sampler();
        self.buffer.scoreboard_mut().set_lists_delivered(lists_delivered);
        self.refresh_paths();
    }

    /// Measures a round trip with every ACK that advances, as timestamps allow.
    pub(crate) fn use_timestamps(&mut self) {
        self.loss.timer_mut().set_samples_each_ack();
    }

    /// Sets the largest segment size that both sides take, and whether timestamps take room from it.
    pub(crate) fn negotiate_mss(&mut self, peer_mss: u64, has_timestamps: bool) {
        self.buffer.negotiate_size(peer_mss, has_timestamps);
    }

    /// Sets the size of the largest segment with its options, before the handshake is done.
    pub(crate) fn set_segment_size(&mut self, with_options: u64) {
        self.buffer.set_size(with_options);
    }

    /// Sets the result of the negotiation about ECN.
    pub(crate) fn negotiate_ecn(&mut self, feedback: Feedback) {
        self.rate.negotiate_ecn(feedback);
        self.refresh_paths();
    }

    /// Reads from the peer's handshake segment whether ours arrived marked.
    pub(crate) fn on_ace_handshake(&mut self, flags: Flags) {
        self.rate.on_ace_handshake(flags);
    }

    /// Counts an impossible echo of the handshake.
    pub(crate) fn on_impossible_echo(&mut self) {
        self.counters.on_impossible_echo();
    }

    /// Takes the SYN off the scoreboard; returns its round trip if that is known.
    pub(crate) fn on_syn_acked(&mut self, now: Instant, origin: SeqNum, sack: &SackBlocks) -> Option<Duration> {
        let end = self.buffer.scoreboard().end_position();
        self.buffer.apply(end, origin, sack, false, now).rtt
    }

    /// Sets the receiver's window that the last segment of the handshake advertises.
    pub(crate) fn set_window(&mut self, window: u64) {
        self.buffer.set_window(window);
    }

    /// Opens the window: the handshake is done.
    pub(crate) fn on_opened(&mut self, cx: &mut Cx<'_>, echoed_rtt: Option<Duration>) {
        self.loss.activity_mut().last_progress = cx.now;
        let was_lost = self.counters.statistics().timeouts > 0;
        if was_lost {
            self.loss.timer_mut().on_syn_lost();
        }
        self.loss.on_progress(cx, echoed_rtt, self.buffer.scoreboard());
        self.rate.open(cx, was_lost);
        let handshake =
            Handshake { rtt: self.buffer.scoreboard().age(cx.now).last_in_order, was_retransmitted: was_lost };
        self.rate.control_mut().on_handshake(cx, &handshake);
        self.loss.recovery_mut().on_opened(cx.now, handshake.rtt);
    }

    /// Passes the round trip of the handshake to a control that models the path.
    pub(crate) fn open_path(&mut self, now: Instant, rtt: Option<Duration>) {
        self.rate.open_path(now, rtt);
    }

    /// Returns, once per reduction of the window, whether CWR is to be sent.
    pub(crate) fn take_cwr(&mut self) -> bool {
        self.rate.take_cwr()
    }

    // The path.

    /// Reduces the segment size after a router reported that the segment at `position` is larger than `limit`, options included;
    /// returns whether the report is credible.
    pub(crate) fn on_path_limit(&mut self, now: Instant, limit: u64, position: u64) -> bool {
        let is_credible = self.buffer.limit_to_path(now, limit, position);
        if is_credible {
            self.loss.on_path_limit(now, self.buffer.scoreboard_mut());
        }
        is_credible
    }

    /// Reduces the segment size to what this host's route carries, options included; returns whether it was larger.
    pub(crate) fn on_route_limit(&mut self, now: Instant, limit: u64) -> bool {
        let is_reduced = self.buffer.limit_to_route(now, limit);
        if is_reduced && self.buffer.is_first_too_long() {
            self.loss.on_path_limit(now, self.buffer.scoreboard_mut());
        }
        is_reduced
    }
}
