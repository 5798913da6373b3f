//! iperf3 against a stack: its client, and a server that implements its protocol (states in `iperf_api.h`).

use crate::bench::Family;
use crate::programs::{HTTP as PORT, Host, is_here, stack};
use earlybird_live::device::Tun;
use earlybird_live::{Application, Driver, Event, Id, MonotonicClock};
use earlybird_tcp::{Config, ListenConfig};
use earlybird_units::Instant;
use std::ops::ControlFlow;
use std::process::{Command, Stdio};
use std::thread;

/// The length of the cookie that a client sends first on each connection.
const COOKIE: usize = 37;
const TEST_START: u8 = 1;
const TEST_RUNNING: u8 = 2;
const TEST_END: u8 = 4;
const PARAM_EXCHANGE: u8 = 9;
const CREATE_STREAMS: u8 = 10;
const EXCHANGE_RESULTS: u8 = 13;
const DISPLAY_RESULTS: u8 = 14;
const IPERF_DONE: u8 = 16;

/// The state of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Cookie,
    Parameters,
    Stream,
    TestEnd,
    Results,
    Done,
    Over,
}

/// An iperf3 server for one test with one stream.
struct Server {
    phase: Phase,
    control: Option<Id>,
    /// Received control bytes that are not parsed yet.
    received: Vec<u8>,
    /// Whether the server is the sender (`iperf3 -R`).
    is_reversed: bool,
    /// Bytes of the stream, including the cookie.
    read: usize,
    written: usize,
    /// The number of connections that have ended.
    closed: usize,
}

impl Server {
    const fn new() -> Self {
        let phase = Phase::Cookie;
        Self { phase, control: None, received: Vec::new(), is_reversed: false, read: 0, written: 0, closed: 0 }
    }

    fn send(&self, stack: &mut Host, bytes: &[u8]) {
        let id = self.control.unwrap();
        assert_eq!(stack.write(id, bytes), Ok(bytes.len()));
    }

    /// Returns the next message with a length prefix, if it is complete.
    fn text(&mut self) -> Option<String> {
        let len = u32::from_be_bytes(*self.received.first_chunk()?) as usize;
        let text = String::from_utf8(self.received.get(4..4 + len)?.to_vec()).unwrap();
        self.received.drain(..4 + len);
        Some(text)
    }

    /// Removes and returns a state byte of the client.
    fn state(&mut self) -> Option<u8> {
        (!self.received.is_empty()).then(|| self.received.remove(0))
    }

    /// Processes one control message. Returns whether there was one.
    fn advance(&mut self, stack: &mut Host) -> bool {
        match self.phase {
            Phase::Cookie if self.received.len() >= COOKIE => {
                self.received.drain(..COOKIE);
                self.send(stack, &[PARAM_EXCHANGE]);
                self.phase = Phase::Parameters;
            }
            Phase::Parameters => {
                let Some(parameters) = self.text() else { return false };
                self.is_reversed = parameters.contains("\"reverse\":true");
                self.send(stack, &[CREATE_STREAMS]);
                self.phase = Phase::Stream;
            }
            Phase::Stream if self.read >= COOKIE => {
                self.send(stack, &[TEST_START, TEST_RUNNING]);
                self.phase = Phase::TestEnd;
            }
            Phase::TestEnd => {
                let Some(state) = self.state() else { return false };
                assert_eq!(state, TEST_END);
                self.send(stack, &[EXCHANGE_RESULTS]);
                self.phase = Phase::Results;
            }
            Phase::Results => {
                if self.text().is_none() {
                    return false;
                }
                let results = self.results();
                self.send(stack, &(results.len() as u32).to_be_bytes());
                self.send(stack, results.as_bytes());
                self.send(stack, &[DISPLAY_RESULTS]);
                self.phase = Phase::Done;
            }
            Phase::Done => {
                let Some(state) = self.state() else { return false };
                assert_eq!(state, IPERF_DONE);
                self.phase = Phase::Over;
            }
            _ => return false,
        }
        true
    }

    fn results(&self) -> String {
        let bytes = if self.is_reversed { self.written } else { self.read - COOKIE };
        format!(
            r#"{{"cpu_util_total":0,"cpu_util_user":0,"cpu_util_system":0,"sender_has_retransmits":0,"streams":[{{"id":1,
            "bytes":{bytes},"retransmits":-1,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":1}}]}}"#
        )
    }

    fn read(&mut self, stack: &mut Host, id: Id) {
        let mut buffer = [0; 1 << 14];
        while let count @ 1.. = stack.read(id, &mut buffer).unwrap() {
            if *self.control.get_or_insert(id) == id {
                self.received.extend(&buffer[..count]);
            } else {
                self.read += count;
            }
        }
        while self.advance(stack) {}
        self.fill(stack, id);
    }

    /// Fills the send buffer, if the server is the sender.
    fn fill(&mut self, stack: &mut Host, id: Id) {
        let sends = self.is_reversed && self.phase == Phase::TestEnd && self.control != Some(id);
        while sends && let count @ 1.. = stack.write(id, &[7; 1 << 14]).unwrap_or(0) {
            self.written += count;
        }
    }
}

impl Application<Tun, MonotonicClock> for Server {
    fn on_event(&mut self, stack: &mut Host, id: Id, event: Event) {
        match event {
            Event::Incoming(port) => assert!(stack.accept(port).is_some()),
            Event::Readable => self.read(stack, id),
            Event::Writable => self.fill(stack, id),
            Event::PeerClosed => stack.shutdown(id).unwrap(),
            Event::Closed(_) => {
                self.closed += 1;
                stack.close(id).unwrap();
            }
            _ => {}
        }
    }

    fn on_turn(&mut self, _: &mut Host) -> ControlFlow<(), Option<Instant>> {
        if self.closed == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(None) }
    }
}

/// Runs iperf3 against a stack. Returns its output and the server.
fn measured(family: Family, options: &[&str]) -> Option<(String, Server)> {
    let mut stack = stack().filter(|_| is_here("iperf3"))?;
    stack.listen(PORT, &Config::linux(), ListenConfig::default()).unwrap();
    let mut iperf = Command::new("iperf3");
    iperf.args(["--json", "--client", &family.ours().to_string(), "--port", &PORT.to_string(), "--bytes", "5M"]);
    let iperf = iperf.args(options).stdout(Stdio::piped()).spawn().unwrap();
    let iperf = thread::spawn(move || iperf.wait_with_output().unwrap());
    let mut server = Server::new();
    Driver::new(stack).unwrap().run(&mut server).unwrap();
    let output = iperf.join().unwrap();
    let output_text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && server.phase == Phase::Over, "{output_text}");
    Some((output_text, server))
}

#[test]
fn iperf3_sends_to_our_server() {
    for family in Family::ALL {
        let Some((output_text, server)) = measured(family, &[]) else { return };
        let sent = format!("\"bytes\":\t{},", server.read - COOKIE);
        assert!(server.read > 5 << 20 && output_text.contains(&sent), "{sent} {output_text}");
    }
}

#[test]
fn iperf3_reads_from_our_server() {
    for family in Family::ALL {
        let Some((output_text, server)) = measured(family, &["--reverse"]) else { return };
        // The requested bytes, and those that were in flight when the client had them.
        let sent = format!("\"bytes\":\t{},", server.written);
        assert!(server.written >= 5 << 20 && output_text.contains(&sent), "{sent} {output_text}");
    }
}
