//! Delayed and quick ACKs of Linux 6.x (`net/ipv4/tcp_input.c`, `tcp_output.c`, `tcp_timer.c`, `tcp.c`), without its compression
//! of ACKs with SACK blocks. Function names refer to Linux.

use super::AckDue;
use earlybird_units::{Duration, Instant};

/// `TCP_ATO_MIN`, `TCP_DELACK_MIN`.
const ATO_MIN: Duration = Duration::from_millis(40);
/// `TCP_DELACK_MAX`.
const DELACK_MAX: Duration = Duration::from_millis(200);
/// `TCP_MAX_QUICKACKS`.
const MAX_QUICKACKS: u64 = 16;

/// An in-order data segment and the state of the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataArrival {
    pub(crate) now: Instant,
    /// Whether it looks like the end of a write.
    pub(crate) is_last: IsLast,
    /// Whether more than one full segment is unacknowledged.
    pub(crate) exceeds_segment: bool,
    /// The advertised window in full segments.
    pub(crate) window: u64,
    /// Our own retransmission timeout.
    pub(crate) timeout: Duration,
    /// Our own smoothed round-trip time.
    pub(crate) srtt: Option<Duration>,
}

/// Whether a segment looks like the end of a write (`tcp_measure_rcv_mss`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IsLast {
    No,
    /// It is full and has PSH.
    Pushed,
    /// It is short.
    Short,
}

/// The state of `inet_csk(sk)->icsk_ack`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Adaptive {
    /// The delay (`ato`); `None` before the first data.
    delay: Option<Duration>,
    /// The number of ACKs that are still sent at once (`quick`).
    quick: u64,
    /// Whether answers follow soon and carry the ACK (`pingpong`).
    is_interactive: bool,
    last_arrival: Instant,
    /// Ends of writes that arrived since the last ACK (`ICSK_ACK_PUSHED`, `ICSK_ACK_PUSHED2`).
    ends: u8,
}

impl Adaptive {
    /// Decides about the ACK of a segment (`tcp_event_data_recv`, `__tcp_ack_snd_check`).
    pub(crate) fn on_data(&mut self, due: AckDue, arrived: &DataArrival) -> AckDue {
        self.note_end(arrived.is_last);
        self.adapt(arrived);
        self.last_arrival = arrived.now;
        if arrived.exceeds_segment || self.is_quick() {
            return AckDue::Now;
        }
        self.delayed(due, arrived)
    }

    fn note_end(&mut self, is_last: IsLast) {
        match is_last {
            IsLast::No => {}
            IsLast::Pushed => self.ends = self.ends.max(1),
            // Two short segments are a sure sign of small writes (`ICSK_ACK_PUSHED2`).
            IsLast::Short => self.ends = (self.ends + 1).min(2),
        }
    }

    /// Adapts the delay to the time between arrivals. A pause that has reset the sender's window starts quick ACKs.
    fn adapt(&mut self, arrived: &DataArrival) {
        let Some(delay) = self.delay else {
            self.delay = Some(ATO_MIN);
            return self.quicken(arrived.window);
        };
        let pause = arrived.now - self.last_arrival;
        // The three branches of `tcp_event_data_recv`: dense arrivals, pauses within the delay, pauses beyond the RTO.
        if pause <= ATO_MIN / 2 {
            self.delay = Some(delay / 2 + ATO_MIN / 2);
        } else if pause < delay {
            self.delay = Some((delay / 2 + pause).min(arrived.timeout));
        } else if pause > arrived.timeout {
            self.quicken(arrived.window);
        }
    }

    /// Starts quick ACKs for as many segments as half a window has (`tcp_incr_quickack`).
    fn quicken(&mut self, window: u64) {
        self.quick = self.quick.max((window / 2).clamp(2, MAX_QUICKACKS));
    }

    /// Processes a duplicate: its sender lacks ACKs (`tcp_enter_quickack_mode`).
    pub(crate) fn on_duplicate(&mut self, window: u64) {
        self.quicken(window);
        self.is_interactive = false;
        self.delay = Some(ATO_MIN);
    }

    fn is_quick(&self) -> bool {
        self.quick > 0 && !self.is_interactive
    }

    /// Returns the time of a delayed ACK (`tcp_send_delayed_ack`).
    fn delayed(&self, due: AckDue, arrived: &DataArrival) -> AckDue {
        let longest = arrived.srtt.map_or(DELACK_MAX, |srtt| srtt.clamp(ATO_MIN, DELACK_MAX));
        let delay = self.delay.unwrap_or(ATO_MIN).min(longest);
        match due {
            // `tcp_send_delayed_ack`: a timer about to expire is not worth another interrupt.
            AckDue::By(at) if at <= arrived.now + delay / 4 => AckDue::Now,
            _ => due.by(arrived.now + delay),
        }
    }

    /// Processes the expiry of the delay without an answer (`tcp_delack_timer_handler`).
    pub(crate) fn on_delay_expired(&mut self) {
        let delay = self.delay.unwrap_or(ATO_MIN);
        // Inflate the delay: the sender is slower than assumed; pingpong mode was wrong.
        self.delay = Some(if self.is_interactive { ATO_MIN } else { (delay * 2).min(DELACK_MAX) });
        self.is_interactive = false;
    }

    /// Processes a sent segment, and its ACK if one was due (`tcp_event_ack_sent`, `tcp_event_data_sent`).
    pub(crate) fn on_sent(&mut self, now: Instant, due: AckDue, has_data: bool) {
        if due != AckDue::Nothing && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = Some(ATO_MIN);
            }
        }
        self.ends = 0;
        // Data within the delay counts as an answer: enter pingpong mode.
        self.is_interactive |= has_data && self.delay.is_some_and(|delay| now - self.last_arrival < delay);
    }

    /// Returns whether a read makes an ACK due: the buffer is empty after the end of a write, so that the sender may wait for it
    /// (`tcp_cleanup_rbuf`).
    pub(crate) fn on_read(&self, has_emptied: bool, exceeds_segment: bool) -> bool {
        exceeds_segment || has_emptied && (self.ends == 2 || self.ends == 1 && !self.is_interactive)
    }

    /// Sets whether ACKs wait for answers (`TCP_QUICKACK` off).
    pub(crate) fn set_interactive(&mut self, is_interactive: bool) {
        self.is_interactive = is_interactive;
    }

    /// Returns the current delay.
    pub(crate) fn delay(&self) -> Option<Duration> {
        self.delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn full(millis: u64) -> DataArrival {
        DataArrival {
            now: at(millis),
            is_last: IsLast::No,
            exceeds_segment: false,
            window: 8,
            timeout: Duration::from_millis(300),
            srtt: None,
        }
    }

    /// Sends a pending ACK at once; returns after how many milliseconds a single segment is acknowledged.
    fn delay_of(acks: &mut Adaptive, millis: u64) -> u64 {
        let due = acks.on_data(AckDue::Nothing, &full(millis));
        acks.on_sent(at(millis), due, false);
        match due {
            AckDue::By(by) => (by - at(millis)).as_nanos() / 1_000_000,
            AckDue::Now | AckDue::Nothing => 0,
        }
    }

    #[test]
    fn the_first_four_of_a_window_of_eight_are_acknowledged_at_once_then_after_40_ms() {
        let mut acks = Adaptive::default();
        assert_eq!([0, 1, 2, 3, 4, 5].map(|millis| delay_of(&mut acks, millis)), [0, 0, 0, 0, 40, 40]);
    }

    /// `tcp_event_data_recv`: half of the old and the time between two of them, 35 ms here.
    #[test]
    fn the_delay_follows_the_time_between_arrivals() {
        let mut acks = Adaptive { delay: Some(ATO_MIN), ..Adaptive::default() };
        assert_eq!([0, 35, 70, 105].map(|millis| delay_of(&mut acks, millis)), [40, 55, 62, 66]);
        assert_eq!([106, 107, 108, 109].map(|millis| delay_of(&mut acks, millis)), [53, 46, 43, 41]);
        assert_eq!(delay_of(&mut acks, 500), 0, "after a pause longer than the timeout");
    }

    #[test]
    fn an_ack_that_was_late_doubles_the_delay_up_to_200_ms_and_to_the_round_trip() {
        let mut acks = Adaptive { delay: Some(ATO_MIN), ..Adaptive::default() };
        for millis in [80, 160, 200, 200] {
            acks.on_delay_expired();
            assert_eq!(acks.delay(), Some(Duration::from_millis(millis)));
        }
        for (srtt, millis) in [(10, 40), (100, 100), (500, 200)] {
            let arrived = DataArrival { srtt: Some(Duration::from_millis(srtt)), ..full(0) };
            assert_eq!(acks.delayed(AckDue::Nothing, &arrived), AckDue::By(at(millis)));
        }
    }

    #[test]
    fn data_that_leave_when_the_delay_is_over_are_no_answer() {
        for (millis, is_interactive) in [(39, true), (40, false)] {
            let mut acks = Adaptive::default();
            delay_of(&mut acks, 0);
            acks.on_sent(at(millis), AckDue::Nothing, true);
            assert_eq!(acks.is_interactive, is_interactive, "{millis} ms");
        }
    }

    #[test]
    fn where_answers_are_sent_soon_the_ack_waits_for_them() {
        let mut acks = Adaptive::default();
        assert_eq!(delay_of(&mut acks, 0), 0);
        acks.on_sent(at(5), AckDue::Nothing, true);
        assert_eq!(delay_of(&mut acks, 10), 40, "though quick ACKs are left");
        acks.on_delay_expired();
        assert_eq!(delay_of(&mut acks, 60), 0, "no answer came");
    }

    #[test]
    fn what_came_twice_asks_for_quick_acks() {
        let mut acks = Adaptive { delay: Some(DELACK_MAX), is_interactive: true, ..Adaptive::default() };
        acks.on_duplicate(1);
        assert_eq!([1, 2, 3].map(|millis| delay_of(&mut acks, millis)), [0, 0, 40], "two, for the smallest window");
    }

    #[test]
    fn a_reader_that_has_all_acknowledges_the_end_of_a_write() {
        let end = |is_last| DataArrival { is_last, ..full(0) };
        for (ends, is_interactive, expected) in [
            (&[IsLast::No][..], false, false),
            (&[IsLast::Pushed], false, true),
            (&[IsLast::Short], false, true),
            (&[IsLast::Short], true, false),
            (&[IsLast::Pushed, IsLast::Pushed], true, false),
            (&[IsLast::Short, IsLast::Short], true, true),
        ] {
            let mut acks = Adaptive { is_interactive, delay: Some(ATO_MIN), ..Adaptive::default() };
            for is_last in ends {
                acks.on_data(AckDue::Nothing, &end(*is_last));
            }
            assert_eq!(acks.on_read(true, false), expected, "{ends:?}");
            assert!(!acks.on_read(false, false) && acks.on_read(false, true));
        }
    }

    /// `tcp_send_delayed_ack`: a timer that is about to run out is not waited for.
    #[test]
    fn an_ack_that_is_nearly_due_goes_with_the_next_segment() {
        let mut acks = Adaptive { delay: Some(ATO_MIN), ..Adaptive::default() };
        let due = acks.on_data(AckDue::Nothing, &full(0));
        assert_eq!(due, AckDue::By(at(40)));
        assert_eq!(acks.on_data(due, &full(20)), AckDue::By(at(40)));
        assert_eq!(acks.on_data(due, &full(31)), AckDue::Now);
    }
}
