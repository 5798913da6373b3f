//! Packets and decisions of senders in the qlog format, for viewers such as qvis.
//!
//! The main schema is that of draft-ietf-quic-qlog-main-schema-04, the events are those of draft-ietf-quic-qlog-quic-events-03: both are
//! version 0.3, the newest that qvis opens. Its events name packets by number, as QUIC does, so every transmission has a number of its
//! own here; acknowledgements and losses refer to it, and the sequence numbers stand under `tcp`, which schemas leave to others. Of
//! data sent more than once an acknowledgement counts for the newest transmission, and a transmission counts as lost when its data
//! is sent again: TCP says no more about either.

mod flight;

use crate::plan::Plan;
use crate::trace::choose;
use earlybird_scenario::ScenarioError;
use earlybird_sim::{Content, FlowId, Observer, Packet, PacketEvent};
use earlybird_tcp::Connection;
use earlybird_units::{Duration, Instant};
use earlybird_wire::Segment;
use flight::Flight;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Viewers draw what QUIC sends once keys are there: TCP's segments are the like of that.
const PACKET_TYPE: &str = "1RTT";

/// Follows chosen flows, each in a trace of its own.
#[derive(Debug)]
pub(crate) struct Qlog {
    traces: Vec<Option<Trace>>,
}

impl Qlog {
    /// Chooses flows by name; without names, all but web flows.
    pub(crate) fn new(plan: &Plan, names: &[String]) -> Result<Self, ScenarioError> {
        let chosen = choose(plan, names)?;
        let is_web = |flow: usize| plan.groups[plan.flows[flow].group].flow.application.is_web();
        if let Some(web) = (0..chosen.len()).find(|flow| chosen[*flow] && is_web(*flow)) {
            // A qlog trace describes one connection.
            return Err(many_connections(&plan.flows[web].name));
        }
        Ok(Self { traces: chosen.into_iter().map(|is_chosen| is_chosen.then(Trace::default)).collect() })
    }

    /// Writes the traces of all flows that did something.
    pub(crate) fn write(&self, plan: &Plan, file: &mut impl Write) -> io::Result<()> {
        write!(file, "{{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON\",\"traces\":[")?;
        let mut separator = "\n";
        for (flow, trace) in plan.flows.iter().zip(&self.traces) {
            let Some(trace) = trace.as_ref().filter(|trace| !trace.events.is_empty()) else { continue };
            let common = json!({ "protocol_type": [trace.protocol], "time_format": "relative", "reference_time": 0 });
            let (title, sender) = (json!(flow.name), json!({ "name": "sender", "type": "client" }));
            write!(file, "{separator}{{\"title\":{title},\"vantage_point\":{sender},\"common_fields\":{common},")?;
            write!(file, "\"events\":[\n{}\n]}}", trace.events)?;
            separator = ",\n";
        }
        writeln!(file, "\n]}}")
    }
}

fn many_connections(name: &str) -> ScenarioError {
    ScenarioError {
        path: "--trace-flow".to_owned(),
        value: name.to_owned(),
        problem: "is a flow of many connections, and a trace in the format qlog is of one".to_owned(),
        allowed: "flows that are not web sessions".to_owned(),
        hint: String::new(),
    }
}

/// The events of one flow, and the state that the next event needs.
#[derive(Debug, Default)]
struct Trace {
    protocol: &'static str,
    events: String,
    sent: u64,
    received: u64,
    flight: Flight,
    metrics: Map<String, Value>,
    timeouts: u64,
    expired: Option<Instant>,
}

impl Trace {
    fn push(&mut self, at: Instant, name: &str, data: &Value) {
        // Written as text, not as a `Value`: a trace can have millions of events.
        let separator = if self.events.is_empty() { "" } else { ",\n" };
        let time = milliseconds(at - Instant::ZERO);
        let _ = write!(self.events, "{separator}{{\"time\":{time},\"name\":\"{name}\",\"data\":{data}}}");
    }

    fn on_sent(&mut self, at: Instant, packet: &Packet) {
        // TCP has no packet numbers: they are counted in order of sending, so that a retransmission has a new one as in
        // QUIC.
        let number = self.sent;
        self.sent += 1;
        let (frames, range) = match &packet.content {
            Content::Segment(segment) => self.stream_frames(segment),
            Content::Datagram(datagram) => {
                self.protocol = "UDP";
                let unit = u64::from(packet.number);
                (
                    json!([{ "frame_type": "datagram", "length": datagram.body_len() }]),
                    (unit, unit + u64::from(packet.is_data())),
                )
            }
        };
        // Pure ACKs take no sequence space and are never lost for a qlog viewer.
        if range.0 < range.1 {
            for lost in self.flight.send(range.0, range.1, number) {
                self.push_lost(at, lost);
            }
        }
        self.push(at, "transport:packet_sent", &described(number, packet, &frames));
    }

    fn stream_frames(&mut self, segment: &Segment) -> (Value, (u64, u64)) {
        self.protocol = "TCP";
        let range = self.flight.sequence.range(segment);
        let offset = self.flight.sequence.offset(segment, range.0);
        let frame = json!({ "frame_type": "stream", "stream_id": 0, "offset": offset, "length": segment.len });
        (if segment.len > 0 { json!([frame]) } else { json!([]) }, range)
    }

    fn push_lost(&mut self, at: Instant, number: u64) {
        let mut data = json!({ "header": { "packet_type": PACKET_TYPE, "packet_number": number } });
        if self.expired == Some(at) {
            // qlog's recovery events are QUIC's; its PTO is the closest to an RTO.
            data["trigger"] = json!("pto_expired");
        }
        self.push(at, "recovery:packet_lost", &data);
    }

    fn on_received(&mut self, at: Instant, packet: &Packet) {
        let number = self.received;
        self.received += 1;
        let acknowledged = packet.segment().map(|segment| self.flight.acknowledge(segment)).unwrap_or_default();
        let frames = if acknowledged.is_empty() {
            json!([])
        } else {
            json!([{ "frame_type": "ack", "acked_ranges": acknowledged }])
        };
        self.push(at, "transport:packet_received", &described(number, packet, &frames));
    }

    fn on_state(&mut self, at: Instant, connection: &Connection) {
        let timeouts = connection.statistics().timeouts;
        if timeouts > self.timeouts {
            (self.timeouts, self.expired) = (timeouts, Some(at));
            self.push(at, "recovery:loss_timer_updated", &json!({ "timer_type": "pto", "event_type": "expired" }));
        }
        let mut metrics = metrics(connection);
        // qlog's `metrics_updated` lists changes only.
        metrics.retain(|name, value| self.metrics.get(name) != Some(value));
        if !metrics.is_empty() {
            self.metrics.extend(metrics.clone());
            self.push(at, "recovery:metrics_updated", &Value::Object(metrics));
        }
    }
}

/// Returns the measurements and decisions of a sender; times are in milliseconds, windows in bytes.
fn metrics(connection: &Connection) -> Map<String, Value> {
    let bytes = |segments: f64| (segments * connection.effective_mss() as f64) as u64;
    // JSON has no infinity: before the first loss the key is absent.
    let threshold = Some(connection.ssthresh()).filter(|threshold| threshold.is_finite());
    let time = |time: Option<Duration>| time.map(|time| json!(time.as_nanos() as f64 / 1e6));
    let values = [
        ("congestion_window", Some(json!(bytes(connection.cwnd())))),
        ("ssthresh", threshold.map(|threshold| json!(bytes(threshold)))),
        ("bytes_in_flight", Some(json!(bytes(connection.in_flight() as f64)))),
        ("smoothed_rtt", time(connection.timer().smoothed)),
        ("rtt_variance", time(connection.rttvar())),
        ("min_rtt", time(connection.min_rtt())),
        ("pacing_rate", connection.pacing_rate().map(|rate| json!(rate.bits_per_second()))),
    ];
    values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn described(number: u64, packet: &Packet, frames: &Value) -> Value {
    let payload = match &packet.content {
        Content::Segment(segment) => usize::from(segment.len),
        Content::Datagram(datagram) => datagram.body_len(),
    };
    let mut data = json!({
        "header": { "packet_type": PACKET_TYPE, "packet_number": number },
        "raw": { "length": packet.bytes, "payload_length": payload },
        "frames": frames,
    });
    if let Some(segment) = packet.segment() {
        data["tcp"] = header(segment);
    }
    data
}

/// Returns the header of a segment.
fn header(segment: &Segment) -> Value {
    let flags: Vec<&str> = segment.flags.iter_names().map(|(name, _)| name).collect();
    let mut header = json!({ "seq": segment.seq.0, "ack": segment.ack.0, "window": segment.window, "flags": flags });
    let blocks: Vec<[u32; 2]> =
        segment.options.sack.as_slice().iter().map(|block| [block.left.0, block.right.0]).collect();
    if !blocks.is_empty() {
        header["sack"] = json!(blocks);
    }
    header
}

/// Writes a time exactly.
fn milliseconds(time: Duration) -> String {
    // Integers, since a double would lose nanoseconds in long runs.
    let nanos = time.as_nanos();
    format!("{}.{:06}", nanos / 1_000_000, nanos % 1_000_000)
}

impl Observer for Qlog {
    const PACKETS: bool = true;
    const STATES: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        let Some(trace) = &mut self.traces[packet.flow.0 as usize] else { return };
        match event {
            PacketEvent::Sent | PacketEvent::Retransmitted if !packet.to.is_opener() => trace.on_sent(at, packet),
            PacketEvent::Arrived if packet.to.is_opener() => trace.on_received(at, packet),
            _ => {}
        }
    }

    fn on_state(&mut self, at: Instant, flow: FlowId, _arrived: Option<&Packet>, connection: &Connection) {
        if let Some(trace) = &mut self.traces[flow.0 as usize] {
            trace.on_state(at, connection);
        }
    }
}
