//! Event lists as text: of one flow, and of the packets offered to a link.

use crate::plan::{FlowPlan, Plan};
use earlybird_scenario::ScenarioError;
use earlybird_sim::{Carrier, FlowId, LinkId, Observer, Packet, PacketEvent};
use earlybird_tcp::{Connection, Recovery, TraceEvent};
use earlybird_units::Instant;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The sender's state in every line of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
struct State {
    cwnd: f64,
    ssthresh: f64,
    back_off: u64,
    timeouts: u64,
}

/// Decisions of a sender during one event.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Decision {
    /// Window and threshold are this now.
    Window(f64, f64),
    /// A round trip was measured: the back-off ends.
    Sample,
}

/// One line.
#[derive(Clone, Debug)]
struct Row {
    at: Instant,
    flow: FlowId,
    event: &'static str,
    seq: Option<u64>,
    state: Option<State>,
}

/// Follows chosen flows: `snd`, `rtx`, `drp`, `dlv`, `ack`, and every change of the sender's state.
#[derive(Debug)]
pub(crate) struct FlowTrace {
    chosen: Vec<bool>,
    /// Flows of datagrams have no window, and external stacks do not report theirs: their lines end before it.
    stateless: Vec<bool>,
    /// ns-2's Vegas backs its timer off before it sets the window, the others after it.
    backs_off_first: Vec<bool>,
    states: Vec<Option<State>>,
    /// The sender's state in the current event, and the last state of its peer.
    decisions: Vec<(Instant, Decision)>,
    rows: Vec<Row>,
}

impl FlowTrace {
    /// Chooses flows by name; without names, all but web flows.
    pub(crate) fn new(plan: &Plan, names: &[String]) -> Result<Self, ScenarioError> {
        let chosen = choose(plan, names)?;
        let is_stateless = |flow: &FlowPlan| !matches!(plan.groups[flow.group].carrier, Carrier::Tcp(_));
        let stateless = plan.flows.iter().map(is_stateless).collect();
        let backs_off_first = plan.flows.iter().map(|flow| is_vegas(&plan.groups[flow.group].carrier)).collect();
        let states = vec![None; chosen.len()];
        Ok(Self { chosen, stateless, backs_off_first, states, decisions: Vec::new(), rows: Vec::new() })
    }

    /// Follows flows whose senders do not report their state.
    pub(crate) fn leave_states_out(&mut self) {
        self.stateless.fill(true);
    }

    /// An acknowledgement came to a sender, to which all is acknowledged up to that segment now.
    pub(crate) fn acknowledge(&mut self, at: Instant, flow: FlowId, upto: Option<u64>) {
        if self.is_chosen(flow) {
            self.push(at, flow, "ack", upto);
        }
    }

    fn is_chosen(&self, flow: FlowId) -> bool {
        self.chosen[flow.0 as usize]
    }

    fn push(&mut self, at: Instant, flow: FlowId, event: &'static str, seq: Option<u64>) {
        let state = self.states[flow.0 as usize];
        // Before the first state there is no line to write.
        if state.is_some() || self.stateless[flow.0 as usize] {
            self.rows.push(Row { at, flow, event, seq, state });
        }
    }

    /// Writes a line for each value that changed, the steps in between included.
    fn note(&mut self, at: Instant, flow: FlowId, new: State) {
        let decisions: Vec<Decision> =
            self.decisions.drain(..).filter(|(when, _)| *when == at).map(|(_, decision)| decision).collect();
        let Some(old) = self.states[flow.0 as usize] else {
            self.states[flow.0 as usize] = Some(new);
            return;
        };
        for (name, state) in steps(old, new, &decisions, self.backs_off_first[flow.0 as usize]) {
            if self.states[flow.0 as usize] != Some(state) {
                self.states[flow.0 as usize] = Some(state);
                self.push(at, flow, name, None);
            }
        }
    }

    /// Returns what happened on the way the state in which the sender was then.
    fn date_packets_in_flight(&mut self) {
        let mut states = vec![None; self.states.len()];
        for row in &mut self.rows {
            let state = &mut states[row.flow.0 as usize];
            match row.event {
                // Drops and deliveries were reported ahead of time, with the state of then.
                "drp" | "dlv" => row.state = state.or(row.state),
                _ => *state = row.state,
            }
        }
    }

    /// Writes the lines in order of time, with a column for the flow if there are several.
    pub(crate) fn write(mut self, plan: &Plan, file: &mut impl Write) -> io::Result<()> {
        let has_many = self.chosen.iter().filter(|chosen| **chosen).count() > 1;
        // Links determine drops ahead of time, so the lines are not yet in order, and their states are not yet those of their time.
        self.rows.retain(|row| row.at < plan.end);
        // Stable: events of one time stay in the order in which they happened.
        self.rows.sort_by_key(|row| row.at);
        self.date_packets_in_flight();
        writeln!(file, "time,event,seq,cwnd,ssthresh,backoff,timeouts{}", if has_many { ",flow" } else { "" })?;
        for row in &self.rows {
            let mut line = row.text();
            if has_many {
                let _ = write!(line, ",{}", plan.flows[row.flow.0 as usize].name);
            }
            writeln!(file, "{line}")?;
        }
        Ok(())
    }
}

/// Returns for each flow whether it is named. Without names, all but web flows are chosen.
pub(crate) fn choose(plan: &Plan, names: &[String]) -> Result<Vec<bool>, ScenarioError> {
    let is_web = |group: usize| plan.groups[group].flow.application.is_web();
    let mut chosen: Vec<bool> = plan.flows.iter().map(|flow| names.is_empty() && !is_web(flow.group)).collect();
    for name in names {
        let flow = plan.flow_named(name).ok_or_else(|| unknown_flow(plan, name))?;
        chosen[flow.0 as usize] = true;
    }
    Ok(chosen)
}

fn is_vegas(carrier: &Carrier) -> bool {
    matches!(carrier, Carrier::Tcp(settings) if settings.opener.recovery.scheme == Recovery::Vegas)
}

/// Returns the states between two events in the order in which the sender went through them.
fn steps(old: State, new: State, decisions: &[Decision], backs_off_first: bool) -> Vec<(&'static str, State)> {
    let mut steps = Vec::new();
    let mut state = old;
    let mut step = |name, change: &dyn Fn(&mut State)| {
        change(&mut state);
        steps.push((name, state));
    };
    let is_timeout = new.timeouts > old.timeouts;
    let is_sampled = new.back_off < old.back_off && !decisions.contains(&Decision::Sample);
    // A new sample ends the back-off before the window grows.
    // ns-2's agents differ in whether the timer backs off before the window closes.
    if if is_timeout { backs_off_first } else { is_sampled } {
        step("backoff", &|state| state.back_off = new.back_off);
    }
    step("nrexmit", &|state| state.timeouts = new.timeouts);
    for decision in decisions.iter().chain([&Decision::Window(new.cwnd, new.ssthresh)]) {
        match *decision {
            Decision::Window(cwnd, ssthresh) => {
                step("ssthresh", &|state| state.ssthresh = ssthresh);
                step("cwnd", &|state| state.cwnd = cwnd);
            }
            Decision::Sample => step("backoff", &|state| state.back_off = new.back_off),
        }
    }
    step("backoff", &|state| state.back_off = new.back_off);
    steps
}

impl Row {
    fn text(&self) -> String {
        let time = if self.seq.is_some() { micros(self.at) } else { format!("{:.5}", self.at.as_secs_f64()) };
        let seq = self.seq.map_or(String::new(), |seq| seq.to_string());
        let event = self.event;
        let Some(State { cwnd, ssthresh, back_off, timeouts }) = self.state else {
            return format!("{time},{event},{seq},,,,");
        };
        format!("{time},{event},{seq},{cwnd:.3},{ssthresh},{back_off},{timeouts}")
    }
}

/// Writes a time in seconds to the microsecond, without trailing zeros.
fn micros(at: Instant) -> String {
    let text = format!("{:.6}", at.as_secs_f64());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn unknown_flow(plan: &Plan, name: &str) -> ScenarioError {
    let groups = plan.groups.iter().map(|group| match group.flow.count {
        1 => format!("{}0", group.flow.name),
        count => format!("{0}0 … {0}{1}", group.flow.name, count - 1),
    });
    ScenarioError {
        path: "--trace-flow".to_owned(),
        value: name.to_owned(),
        problem: "is not a flow of this scenario".to_owned(),
        allowed: groups.collect::<Vec<_>>().join(", "),
        hint: String::new(),
    }
}

impl Observer for FlowTrace {
    const PACKETS: bool = true;
    const STATES: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        if !self.is_chosen(packet.flow) || !packet.is_data() || packet.to.is_opener() {
            return;
        }
        let name = match event {
            PacketEvent::Sent => "snd",
            PacketEvent::Retransmitted => "rtx",
            PacketEvent::Dropped(..) => "drp",
            PacketEvent::Arrived => "dlv",
            // ns-2's traces of senders have no such lines.
            PacketEvent::Entered(_) | PacketEvent::Duplicated(_) => return,
        };
        self.push(at, packet.flow, name, Some(u64::from(packet.number)));
    }

    fn on_trace(&mut self, at: Instant, flow: FlowId, event: TraceEvent) {
        if !self.is_chosen(flow) {
            return;
        }
        match event {
            TraceEvent::Window { cwnd, ssthresh } => self.decisions.push((at, Decision::Window(cwnd, ssthresh))),
            TraceEvent::RttSample(_) if !self.decisions.is_empty() => self.decisions.push((at, Decision::Sample)),
            _ => {}
        }
    }

    fn on_state(&mut self, at: Instant, flow: FlowId, arrived: Option<&Packet>, connection: &Connection) {
        if !self.is_chosen(flow) {
            return;
        }
        if arrived.is_some() {
            self.acknowledge(at, flow, connection.highest_acknowledged());
        }
        // Read after the segment was handled: the state that the next decision uses.
        let timer = connection.timer();
        let state = State {
            cwnd: connection.cwnd(),
            ssthresh: connection.ssthresh(),
            back_off: timer.back_off,
            timeouts: connection.statistics().timeouts,
        };
        self.note(at, flow, state);
    }
}

/// Follows the bottleneck: `enq` for every packet it takes, `drp` for every one it drops.
#[derive(Debug)]
pub(crate) struct LinkTrace {
    link: Option<LinkId>,
    rows: Vec<(Instant, &'static str, FlowId, u32, u32)>,
}

impl LinkTrace {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self { link: plan.bottleneck_id(), rows: Vec::new() }
    }

    pub(crate) fn write(mut self, plan: &Plan, file: &mut impl Write) -> io::Result<()> {
        self.rows.retain(|row| row.0 < plan.end);
        self.rows.sort_by_key(|row| row.0);
        writeln!(file, "time,event,flow,seq,bytes")?;
        for (at, event, flow, seq, bytes) in &self.rows {
            let flow = &plan.flows[flow.0 as usize].name;
            // ACKs have no number in their own direction.
            let seq = if *seq == Packet::PURE_ACK { String::new() } else { seq.to_string() };
            writeln!(file, "{},{event},{flow},{seq},{bytes}", micros(*at))?;
        }
        Ok(())
    }
}

impl Observer for LinkTrace {
    const PACKETS: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        let name = match event {
            PacketEvent::Entered(link) if Some(link) == self.link => "enq",
            PacketEvent::Dropped(link, _) if Some(link) == self.link => "drp",
            _ => return,
        };
        self.rows.push((at, name, packet.flow, packet.number, packet.bytes));
    }
}
