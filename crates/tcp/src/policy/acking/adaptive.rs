//! Delayed and quick ACKs as Linux 6.x has them (`net/ipv4/tcp_input.c`, `tcp_output.c`, `tcp_timer.c`, `tcp.c`), but for
//! the ACKs with SACK blocks that it compresses into fewer. The functions named here are its.

use super::AckDue;
use earlybird_units::{Duration, Instant};

/// `TCP_ATO_MIN`, `TCP_DELACK_MIN`.
const SHORTEST: Duration = Duration::from_millis(40);
/// `TCP_DELACK_MAX`.
const LONGEST: Duration = Duration::from_millis(200);
/// `TCP_MAX_QUICKACKS`.
const MOST_QUICK: u64 = 16;

/// What a segment in order tells, beside what is known of the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) now: Instant,
    /// It is shorter than others that came, or its sender had no more to send.
    pub(crate) is_last: IsLast,
    /// More than one full segment is not acknowledged.
    pub(crate) exceeds_segment: bool,
    /// Full segments that the window has that was told.
    pub(crate) window: u64,
    /// Our own retransmission timeout.
    pub(crate) timeout: Duration,
    /// Our own smoothed round-trip time.
    pub(crate) srtt: Option<Duration>,
}

/// Whether a segment looks like the end of what its sender wrote (`tcp_measure_rcv_mss`).
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
    /// The delay (`ato`); none before the first data.
    delay: Option<Duration>,
    /// ACKs that are still to go at once (`quick`).
    quick: u64,
    /// Answers follow what comes, and carry its ACK (`pingpong`).
    is_interactive: bool,
    last_arrival: Instant,
    /// Ends of writes that came since the last ACK (`ICSK_ACK_PUSHED`, `ICSK_ACK_PUSHED2`).
    ends: u8,
}

impl Adaptive {
    /// Decides after an arrival (`tcp_event_data_recv`, `__tcp_ack_snd_check`).
    pub(crate) fn on_data(&mut self, due: AckDue, arrived: &Arrived) -> AckDue {
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
            IsLast::Short => self.ends = (self.ends + 1).min(2),
        }
    }

    /// The delay follows the time between arrivals; a pause that has reset the sender's window asks for quick ACKs.
    fn adapt(&mut self, arrived: &Arrived) {
        let Some(delay) = self.delay else {
            self.delay = Some(SHORTEST);
            return self.quicken(arrived.window);
        };
        let pause = arrived.now - self.last_arrival;
        if pause <= SHORTEST / 2 {
            self.delay = Some(delay / 2 + SHORTEST / 2);
        } else if pause < delay {
            self.delay = Some((delay / 2 + pause).min(arrived.timeout));
        } else if pause > arrived.timeout {
            self.quicken(arrived.window);
        }
    }

    /// Acknowledges every segment at once, as many as half a window has (`tcp_incr_quickack`).
    fn quicken(&mut self, window: u64) {
        self.quick = self.quick.max((window / 2).clamp(2, MOST_QUICK));
    }

    /// Something came twice: its sender lacks ACKs (`tcp_enter_quickack_mode`).
    pub(crate) fn on_duplicate(&mut self, window: u64) {
        self.quicken(window);
        self.is_interactive = false;
        self.delay = Some(SHORTEST);
    }

    fn is_quick(&self) -> bool {
        self.quick > 0 && !self.is_interactive
    }

    /// `tcp_send_delayed_ack`.
    fn delayed(&self, due: AckDue, arrived: &Arrived) -> AckDue {
        let longest = arrived.srtt.map_or(LONGEST, |srtt| srtt.clamp(SHORTEST, LONGEST));
        let delay = self.delay.unwrap_or(SHORTEST).min(longest);
        match due {
            AckDue::By(at) if at <= arrived.now + delay / 4 => AckDue::Now,
            _ => due.by(arrived.now + delay),
        }
    }

    /// The delay has passed and no answer came (`tcp_delack_timer_handler`).
    pub(crate) fn on_delay_expired(&mut self) {
        let delay = self.delay.unwrap_or(SHORTEST);
        self.delay = Some(if self.is_interactive { SHORTEST } else { (delay * 2).min(LONGEST) });
        self.is_interactive = false;
    }

    /// A segment leaves, and with it an ACK, if one was owed (`tcp_event_ack_sent`, `tcp_event_data_sent`).
    pub(crate) fn on_sent(&mut self, now: Instant, due: AckDue, has_data: bool) {
        if due != AckDue::Nothing && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = Some(SHORTEST);
            }
        }
        self.ends = 0;
        // An answer.
        self.is_interactive |= has_data && self.delay.is_some_and(|delay| now - self.last_arrival < delay);
    }

    /// The application has read. If that leaves nothing, and what came looked like the end of something, the sender may wait
    /// for the ACK (`tcp_cleanup_rbuf`).
    pub(crate) fn on_read(&self, has_emptied: bool, exceeds_segment: bool) -> bool {
        exceeds_segment || has_emptied && (self.ends == 2 || self.ends == 1 && !self.is_interactive)
    }

    /// The application asks for ACKs at once, or for ACKs with its answers (`TCP_QUICKACK`).
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

    fn full(millis: u64) -> Arrived {
        Arrived {
            now: at(millis),
            is_last: IsLast::No,
            exceeds_segment: false,
            window: 8,
            timeout: Duration::from_millis(300),
            srtt: None,
        }
    }

    /// Acknowledges whatever is owed at once; gives after how many milliseconds the ACK of a single segment goes.
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
        let mut acks = Adaptive { delay: Some(SHORTEST), ..Adaptive::default() };
        assert_eq!([0, 35, 70, 105].map(|millis| delay_of(&mut acks, millis)), [40, 55, 62, 66]);
        assert_eq!([106, 107, 108, 109].map(|millis| delay_of(&mut acks, millis)), [53, 46, 43, 41]);
        assert_eq!(delay_of(&mut acks, 500), 0, "after a pause longer than the timeout");
    }

    #[test]
    fn an_ack_that_was_late_doubles_the_delay_up_to_200_ms_and_to_the_round_trip() {
        let mut acks = Adaptive { delay: Some(SHORTEST), ..Adaptive::default() };
        for millis in [80, 160, 200, 200] {
            acks.on_delay_expired();
            assert_eq!(acks.delay(), Some(Duration::from_millis(millis)));
        }
        for (srtt, millis) in [(10, 40), (100, 100), (500, 200)] {
            let arrived = Arrived { srtt: Some(Duration::from_millis(srtt)), ..full(0) };
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
        let mut acks = Adaptive { delay: Some(LONGEST), is_interactive: true, ..Adaptive::default() };
        acks.on_duplicate(1);
        assert_eq!([1, 2, 3].map(|millis| delay_of(&mut acks, millis)), [0, 0, 40], "two, for the smallest window");
    }

    #[test]
    fn a_reader_that_has_all_acknowledges_the_end_of_a_write() {
        let end = |is_last| Arrived { is_last, ..full(0) };
        for (ends, is_interactive, expected) in [
            (&[IsLast::No][..], false, false),
            (&[IsLast::Pushed], false, true),
            (&[IsLast::Short], false, true),
            (&[IsLast::Short], true, false),
            (&[IsLast::Pushed, IsLast::Pushed], true, false),
            (&[IsLast::Short, IsLast::Short], true, true),
        ] {
            let mut acks = Adaptive { is_interactive, delay: Some(SHORTEST), ..Adaptive::default() };
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
        let mut acks = Adaptive { delay: Some(SHORTEST), ..Adaptive::default() };
        let due = acks.on_data(AckDue::Nothing, &full(0));
        assert_eq!(due, AckDue::By(at(40)));
        assert_eq!(acks.on_data(due, &full(20)), AckDue::By(at(40)));
        assert_eq!(acks.on_data(due, &full(31)), AckDue::Now);
    }
}
