//! What of the send buffer the connection is given to send: a socket holds back what Nagle's rule (RFC 1122 §4.2.3.4), a cork
//! or `MSG_MORE` say, and gives one record at a time, so that segments end where records do.

use crate::flow::{Flow, instant};
use crate::world::Micros;
use earlybird_tcp::Cx;

/// What is held back, and what is not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Feeding {
    pub(crate) no_delay: bool,
    pub(crate) cork: bool,
    /// The last write said that more will come.
    pub(crate) has_more: bool,
    /// Up to here nothing is held back.
    forced: u64,
    /// The connection was given so much.
    passed: u64,
    /// Where the last segment ended that was not full.
    small_end: u64,
    /// When what is held back leaves all the same.
    deadline: Option<Micros>,
    /// How the sending direction ends behind what was written.
    ends: Option<End>,
    has_ended: Option<End>,
}

/// How an application ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It sends no more.
    Shut,
    /// It does not read either.
    Closed,
}

/// The least time after which held data leaves (`TCP_RTO_MIN`).
const LEAST_HOLD: Micros = 200_000;

impl Flow {
    /// Gives the connection what it may send now. Says whether there was something.
    pub(crate) fn feed(&mut self, now: Micros) -> bool {
        let end = self.feedable();
        if end > self.feeding.passed {
            let bytes = end - self.feeding.passed;
            if self.connection.write(bytes).is_err() {
                return false;
            }
            self.feeding.passed = end;
            return true;
        }
        let is_all = self.feeding.passed == self.queue.written();
        if !is_all || self.feeding.ends == self.feeding.has_ended {
            return false;
        }
        self.feeding.has_ended = self.feeding.ends;
        match self.feeding.ends {
            Some(End::Shut) => self.connection.shutdown(),
            Some(End::Closed) => self.connection.close(&mut Cx { now: instant(now), trace: &mut () }),
            None => {}
        }
        true
    }

    /// Gives the place up to which the connection may be given bytes.
    fn feedable(&self) -> u64 {
        let (start, mss) = (self.queue.sent(), self.mss().max(1));
        let (end, is_full) = self.queue.next_boundary();
        let whole = start + (end - start) / mss * mss;
        let is_last = end == self.queue.written();
        let is_free = whole == end || end <= self.feeding.forced || self.feeding.ends.is_some();
        let holds =
            (is_last && (self.feeding.cork || self.feeding.has_more)) || ((is_last || is_full) && self.waits_for_ack());
        if !is_free && holds { whole } else { end }
    }

    /// Nagle's rule as Minshall changed it (`tcp_minshall_check`): one segment at a time that is not full.
    fn waits_for_ack(&self) -> bool {
        !self.feeding.no_delay && self.feeding.small_end > self.queue.acknowledged()
    }

    /// A segment left that ends here.
    pub(crate) fn note_small(&mut self, len: u64, end: u64) {
        if len < self.mss() {
            self.feeding.small_end = self.feeding.small_end.max(end);
        }
    }

    /// Whatever was written leaves.
    pub(crate) fn force(&mut self) {
        self.feeding.forced = self.queue.written();
        self.feeding.has_more = false;
    }

    /// Ends the sending direction, once everything was given.
    pub(crate) fn end(&mut self, end: End, now: Micros) {
        self.feeding.ends = Some(end);
        self.feed(now);
    }

    /// What is held back while nothing is outstanding leaves in the end (`tcp_check_probe_timer`).
    pub(crate) fn watch_held(&mut self, now: Micros) {
        let is_held = self.feeding.passed < self.queue.written() && self.connection.outstanding() == 0;
        let hold = (self.connection.timer().timeout.as_nanos() / 1000).max(LEAST_HOLD);
        self.feeding.deadline = if is_held { self.feeding.deadline.or(Some(now + hold)) } else { None };
    }

    /// Lets go what was held back for too long.
    pub(crate) fn release(&mut self, now: Micros) {
        if self.feeding.deadline.is_some_and(|deadline| deadline <= now) {
            self.feeding.deadline = None;
            self.queue.push();
            self.force();
        }
    }

    /// Gives the time at which something falls due.
    pub(crate) fn deadline(&self) -> Option<Micros> {
        let connection = self.connection.poll_timeout().map(|at| at.as_nanos().div_ceil(1000));
        [connection, self.feeding.deadline].into_iter().flatten().min()
    }
}
