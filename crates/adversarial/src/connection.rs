//! A connection with a malicious peer.

use crate::forge::{self, NextExpected};
use crate::oracle::ReceiverOracle;
use crate::packets::{addresses, read, write};
use crate::sanity::{check, drain, every_offer};
use crate::{Totals, random_config};
use arbitrary::{Result, Unstructured};
use earlybird_tcp::{Config, Connection, Cx, Delivery, FastOpenOffer, Identity, KeepAlive, Transmit};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{
    Addresses, Checksums, FastOpen, Flags, IcmpError, Options, Segment, SeqNum, Timestamps, Unreachable,
};

/// Brings a connection into any state, then applies segments, calls and pauses in any order.
///
/// # Panics
///
/// If an invariant is violated.
pub fn connection(data: &[u8], totals: &mut Totals) {
    let mut data = Unstructured::new(data);
    // The experiment ends with its input.
    if let Ok(mut test) = ConnectionUnderTest::new(&mut data, totals) {
        while !data.is_empty() && test.step(&mut data).is_ok() {}
    }
}

/// The largest number of segments that one call may cause: a window, in segments of the smallest path MTU.
const BURST: usize = 20_000;

struct ConnectionUnderTest<'a> {
    connection: Connection,
    config: Config,
    addresses: Addresses,
    now: Instant,
    /// The last segment that it sent.
    last: Segment,
    written: u64,
    oracle: ReceiverOracle,
    totals: &'a mut Totals,
}

impl<'a> ConnectionUnderTest<'a> {
    /// Creates a connection and brings it into a state.
    fn new(data: &mut Unstructured<'_>, totals: &'a mut Totals) -> Result<Self> {
        let config = random_config::config(data)?;
        let (progress, seeds) = (data.int_in_range(0..=7_u8)?, SeedTree::new(1));
        let connection =
            // Stages 0 and 1 are active openers, all others passive.
            if progress < 2 { Connection::connect(&config, seeds) } else { Connection::listen(&config, seeds) };
        totals.connections += 1;
        let mut test = Self {
            connection,
            config,
            addresses: addresses(data.arbitrary()?),
            now: Instant::ZERO,
            last: Segment::default(),
            written: 0,
            oracle: ReceiverOracle::default(),
            totals,
        };
        match progress {
            1 => test.open_fast(forge::cookie(data)?),
            7 => test.accept_fast(forge::cookie(data)?),
            _ => {}
        }
        test.serve();
        test.open(progress);
        Ok(test)
    }

    /// Puts data or a cookie request on the SYN.
    fn open_fast(&mut self, cookie: FastOpen) {
        let is_experimental = cookie.is_experimental();
        let request = FastOpenOffer::Request { is_experimental };
        let mss = core::num::NonZeroU16::new(1000);
        let offer = if cookie.is_request() { request } else { FastOpenOffer::Cookie { cookie, mss } };
        self.connection.open_fast(offer);
        self.written += self.connection.write(2000).unwrap_or(0);
    }

    /// Opens the connection by a SYN with data.
    fn accept_fast(&mut self, cookie: FastOpen) {
        let syn = Segment { flags: Flags::SYN, len: 700, window: 60_000, ..Segment::default() };
        let cx = &mut Cx { now: self.now, trace: &mut () };
        let (identity, seeds) = (Identity::default(), SeedTree::new(1));
        let (connection, taken) = Connection::accept_fast(cx, &self.config, identity, seeds, &syn, Some(cookie));
        self.totals.kept += self.oracle.record(&syn, &taken);
        // Replaces the listening connection that `new` created.
        self.connection = connection;
    }

    /// Continues the handshake like a correct peer.
    fn open(&mut self, progress: u8) {
        if matches!(progress, 3..=6) {
            let options = every_offer();
            self.take(&Segment { flags: Flags::SYN, options, window: 60_000, ..Segment::default() });
        }
        if matches!(progress, 4..=6) {
            let segment = Segment { window: 60_000, ..self.plausible() };
            self.take(&segment);
            self.write(30_000);
        }
        if progress == 6 {
            self.connection.shutdown();
            self.serve();
        }
    }

    fn step(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        match data.int_in_range(0..=31_u8)? {
            0..=11 => self.take_forged(data)?,
            12..=15 => self.take_ack(data)?,
            16..=18 => self.take_data(data)?,
            19..=21 => self.take_mutated(data)?,
            22 => self.take_echo(),
            26 => self.take_report(data)?,
            27 => self.set_sending(data)?,
            23 | 24 => self.pause(data)?,
            _ => self.act(data)?,
        }
        self.serve();
        Ok(())
    }

    /// Calls a method of the application's side.
    fn act(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        let cx = &mut Cx { now: self.now, trace: &mut () };
        match data.int_in_range(0..=15_u8)? {
            0..=4 => self.write(data.int_in_range(0..=20_000)?),
            5 | 6 => _ = self.connection.write_frame(cx, data.int_in_range(0..=1500)?, data.int_in_range(0..=4)?),
            7..=10 => _ = self.connection.read(data.int_in_range(0..=20_000)?),
            11 => _ = self.connection.read_frame(cx),
            12 => self.connection.wait(cx),
            // Rarely, as these end the connection.
            14 if data.ratio(1, 8_u8)? => self.connection.shutdown(),
            15 if data.ratio(1, 32_u8)? => self.connection.abort(),
            15 if data.ratio(1, 32_u8)? => {
                self.connection.close(cx);
                self.keep_limits();
            }
            13 => self.connection.stop_waiting(),
            _ => self.set_lifetime(data)?,
        }
        Ok(())
    }

    /// Runs timers after a new limit, which may have passed already.
    fn keep_limits(&mut self) {
        if self.connection.poll_timeout().is_some_and(|deadline| deadline <= self.now) {
            self.connection.on_timeout(&mut Cx { now: self.now, trace: &mut () });
        }
    }

    fn set_lifetime(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        let cx = &mut Cx { now: self.now, trace: &mut () };
        let mut span = || Ok(Duration::from_millis(data.int_in_range(1..=100_000)?));
        let keep_alive = KeepAlive { idle: span()?, interval: span()?, probes: 3 };
        let user_timeout = span()?;
        match data.int_in_range(0..=7_u8)? {
            0 => self.connection.set_keep_alive(cx, Some(keep_alive)),
            1 => self.connection.set_keep_alive(cx, None),
            2 => self.connection.set_user_timeout(cx, Some(user_timeout)),
            3 => self.connection.set_user_timeout(cx, None),
            _ => {}
        }
        self.keep_limits();
        Ok(())
    }

    fn write(&mut self, bytes: u64) {
        self.written += self.connection.write(bytes).unwrap_or(0);
        self.serve();
    }

    fn expected(&self) -> NextExpected {
        let sent = self.last.options.timestamps.unwrap_or_default();
        NextExpected {
            seq: self.last.ack,
            ack: self.last.seq.at(self.last.sequence_len()),
            timestamps: Timestamps { value: (self.now.as_nanos() / 1_000_000) as u32, echo: sent.value },
        }
    }

    /// Returns the segment that a correct peer would send.
    fn plausible(&self) -> Segment {
        let NextExpected { seq, ack, timestamps } = self.expected();
        let options =
            Options { timestamps: self.last.options.timestamps.is_some().then_some(timestamps), ..Options::default() };
        Segment { seq, ack, flags: Flags::ACK, window: 30_000, options, ..Segment::default() }
    }

    fn take_forged(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        let segment = forge::segment(data, &self.expected())?;
        self.totals.packet("forged");
        self.take(&segment);
        Ok(())
    }

    /// Sends a valid ACK with arbitrary acknowledgement number and window.
    fn take_ack(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        // Old ACKs are common on real paths and must be harmless.
        let back = data.int_in_range(0..=5000)?;
        let plausible = self.plausible();
        let ack = SeqNum(plausible.ack.0.wrapping_sub(back));
        self.totals.packet("ACK");
        self.take(&Segment { ack, window: data.arbitrary()?, ..plausible });
        Ok(())
    }

    /// Sends valid data at an arbitrary offset.
    fn take_data(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        let plausible = self.plausible();
        let len = data.int_in_range(1..=1000)?;
        // Multiples of the length, so that segments leave gaps and fill them exactly.
        let seq = plausible.seq.at(u64::from(len) * data.int_in_range(0..=8)?);
        self.totals.packet("data");
        self.take(&Segment { seq, len, ..plausible });
        Ok(())
    }

    /// Sends a valid segment with a few flipped bits, without verifying its checksum.
    fn take_mutated(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        let len = data.int_in_range(0..=64)?;
        let segment = Segment { len, ..self.plausible() };
        let mut packet = write(&segment, &self.addresses, &vec![0; len.into()]).expect("it fits");
        for _ in 0..data.int_in_range(1..=4_u8)? {
            forge::flip(data, &mut packet)?;
        }
        self.totals.packet("mutated");
        self.take_packet(&packet);
        Ok(())
    }

    /// Delivers an ICMP error about a segment that was sent or not.
    fn take_report(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        let seq = forge::number(data, self.last.seq)?;
        let reasons = [Unreachable::Host, Unreachable::Port, Unreachable::Prohibited];
        self.totals.packet("report");
        if data.arbitrary()? {
            let cx = &mut Cx { now: self.now, trace: &mut () };
            // Half of the values are possible MTUs, half arbitrary.
            let mtu = if data.arbitrary()? { data.int_in_range(68..=1500)? } else { data.arbitrary()? };
            self.connection.on_path_mtu(cx, mtu, seq);
        } else {
            self.connection.on_unreachable(IcmpError::Unreachable(*data.choose(&reasons)?), seq);
        }
        Ok(())
    }

    fn set_sending(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        match data.int_in_range(0..=4_u8)? {
            0 => self.connection.set_nagle(data.arbitrary()?),
            1 => self.connection.cork(data.arbitrary()?),
            2 => self.connection.end_record(),
            3 => self.connection.set_send_limits(data.arbitrary::<Option<u16>>()?.map(u64::from), None),
            _ => self.connection.set_send_limits(None, data.arbitrary::<Option<u16>>()?.map(u64::from)),
        }
        Ok(())
    }

    /// Reflects the connection's last segment.
    fn take_echo(&mut self) {
        self.totals.packet("echo");
        self.take(&self.last.clone());
    }

    /// Delivers a segment as a packet if it fits into one.
    fn take(&mut self, segment: &Segment) {
        match write(segment, &self.addresses, &vec![0; segment.len.into()]) {
            Ok(packet) => self.take_packet(&packet),
            Err(_) => self.take_segment(segment),
        }
    }

    fn take_packet(&mut self, packet: &[u8]) {
        match read(packet, Checksums::Ignore) {
            Ok(parsed) => self.take_segment(&parsed.segment),
            Err(reason) => self.totals.refuse(reason),
        }
    }

    fn take_segment(&mut self, segment: &Segment) {
        let before = self.connection.received();
        let taken = self.connection.on_segment(&mut Cx { now: self.now, trace: &mut () }, segment);
        self.totals.segments += 1;
        self.totals.offered += u64::from(segment.len);
        self.totals.kept += self.oracle.record(segment, &taken);
        self.totals.delivered += self.connection.received() - before;
        self.serve();
    }

    /// Advances time by up to a quarter of an hour, mostly much less.
    fn pause(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        let millis = u64::from(data.arbitrary::<u8>()?) << data.int_in_range(0..=12_u8)?;
        let end = self.now + Duration::from_millis(millis);
        // Bounded, as fine-grained timers may fire very often.
        for _ in 0..50 {
            let Some(deadline) = self.connection.poll_timeout().filter(|deadline| *deadline <= end) else {
                break;
            };
            self.now = self.now.max(deadline);
            self.connection.on_timeout(&mut Cx { now: self.now, trace: &mut () });
            self.serve();
        }
        // Stop short of the next deadline: a driver would have called `on_timeout` at it.
        let deadline = self.connection.poll_timeout().unwrap_or(Instant::NEVER);
        self.now = self.now.max(Instant::from_nanos(end.as_nanos().min(deadline.as_nanos() - 1)));
        Ok(())
    }

    /// Does what a driver does after each call, and checks invariants.
    fn serve(&mut self) {
        for count in 0.. {
            let cx = &mut Cx { now: self.now, trace: &mut () };
            let Some(transmit) = self.connection.poll_transmit(cx) else {
                break;
            };
            assert!(count < BURST, "the connection sends without end");
            self.check_transmit(&transmit);
        }
        drain(&mut self.connection);
        self.check();
    }

    fn check_transmit(&mut self, transmit: &Transmit) {
        let segment = &transmit.segment;
        self.totals.answers += 1;
        assert!(segment.options.wire_len() <= 40, "the options do not fit into a header");
        assert_eq!(transmit.data.end - transmit.data.start, u64::from(segment.len));
        if !self.config.real_time.framing {
            assert!(transmit.data.end <= self.written, "{transmit:?} is more than the {} written", self.written);
        }
        // A reset says nothing about the state that a peer would continue from.
        if !segment.flags.contains(Flags::RST) {
            self.last = *segment;
        }
    }

    fn check(&self) {
        check(&self.connection, &self.config, self.now);
        // Unordered delivery passes frames on before earlier data arrives.
        if self.config.real_time.delivery == Delivery::InOrder {
            let (received, kept) = (self.connection.received(), self.oracle.in_order());
            assert!(received <= kept, "{received} bytes were delivered, but {kept} sent");
        }
    }
}
