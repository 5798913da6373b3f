//! The thread that runs the applications of a run in real time.

use crate::clock::Clock;
use crate::hosts::{Hosts, Readiness};
use crate::links::Samples;
use earlybird_emulator::DelayHistogram;
use earlybird_experiment::{FlowSpec, Recorder};
use earlybird_scenario::Scenario;
use earlybird_sim::{Carrier, FlowId, Observer};
use earlybird_traffic::{AppTable, ConnectionId, Part, ReceiverId, SenderId, UnitMap, cut, with_receiver, with_sender};
use earlybird_units::{Duration, Instant};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// The state of a connection, in addition to that of its hosts.
pub(crate) struct ConnectionState {
    flow: FlowId,
    sender: SenderId,
    receiver: Option<ReceiverId>,
    /// Bytes written for which the opener had no room.
    waiting: u64,
    /// Whether something was written since the opener last had everything acknowledged.
    is_undrained: bool,
    pub(crate) is_closing: bool,
    unit_map: UnitMap,
}

/// The properties of a flow that its applications use.
pub(crate) struct FlowInfo {
    pub(crate) mss: u64,
    has_units: bool,
    /// Whether its connection carries frames, not a stream.
    has_frames: bool,
    receiver: Option<ReceiverId>,
}

/// The applications of a run with their hosts. Packets are carried by another thread.
pub(crate) struct AppRuntime<H> {
    pub(crate) hosts: H,
    pub(crate) recorder: Recorder,
    pub(crate) clock: Clock,
    pub(crate) flows: Vec<FlowInfo>,
    pub(crate) apps: AppTable,
    /// By number of the connection.
    pub(crate) connections: Vec<ConnectionState>,
    /// An error of a call by an application, which cannot handle it itself.
    pub(crate) failure: Option<io::Error>,
    end: Instant,
    mark: Instant,
    samples: Option<Samples>,
    next_drain: Instant,
    /// Delays of this thread's wake-ups.
    pub(crate) wakes: DelayHistogram,
}

/// Poll interval for "all data acknowledged", of which the kernel sends no event.
const DRAIN_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Longest wait between two checks of `stop`.
const MAX_WAIT: Duration = Duration::from_millis(20);

impl<H: Hosts> AppRuntime<H> {
    /// Makes a run that has not started from the flows of a topology.
    pub(crate) fn new(scenario: &Scenario, flows: Vec<FlowSpec>, recorder: Recorder, hosts: H, clock: Clock) -> Self {
        let mut runtime = Self {
            hosts,
            recorder,
            clock,
            flows: Vec::new(),
            apps: AppTable::default(),
            connections: Vec::new(),
            failure: None,
            end: Instant::ZERO + scenario.duration.duration(),
            mark: Instant::ZERO + scenario.measure.warm_up.duration(),
            samples: samples_of(scenario),
            next_drain: Instant::ZERO,
            wakes: DelayHistogram::default(),
        };
        for spec in flows {
            runtime.add_flow(spec);
        }
        runtime
    }

    fn add_flow(&mut self, spec: FlowSpec) {
        for (start, app) in spec.sources {
            self.apps.add_sender(spec.id, app, start);
        }
        let receiver = spec.viewer.map(|viewer| self.apps.add_receiver(spec.id, Box::new(viewer)));
        let has_frames = matches!(&spec.carrier, Carrier::Tcp(settings) if settings.opener.real_time.framing);
        self.flows.push(FlowInfo { mss: spec.carrier.mss().into(), has_units: false, has_frames, receiver });
    }

    /// Runs the applications to the end of the run, or until `stop` is set.
    pub(crate) fn run(&mut self, stop: &AtomicBool) -> io::Result<()> {
        let mut ready = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let now = self.clock.now();
            if now >= self.end {
                self.finish();
                break;
            }
            self.do_due(now);
            // Computed after the applications acted: they may have set earlier wake-ups.
            let due = self.next_time(now);
            // The time is read again: applications may have taken some of it.
            self.hosts.wait(due.since(self.clock.now()), &mut ready)?;
            let woken = self.clock.now();
            // Only wake-ups by the clock measure lateness; a packet may wake the thread at any time.
            if ready.is_empty() && woken >= due {
                self.wakes.record(due, woken);
            }
            for readiness in ready.drain(..) {
                self.on_ready(readiness);
            }
            self.note_decisions();
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Reports the senders' decisions to the recorder.
    fn note_decisions(&mut self) {
        for (at, id, event) in self.hosts.decisions() {
            self.recorder.on_trace(at, self.connections[id.0 as usize].flow, event);
        }
    }

    /// Executes what is due: measurements first, then applications.
    fn do_due(&mut self, now: Instant) {
        // Measurements come before applications, as probes have another kind of event in the simulator: what is written
        // now does not count.
        if self.mark <= now {
            self.mark = Instant::NEVER;
            let open: Vec<_> = self.connections().map(|(id, flow)| (flow, self.hosts.end(now, id))).collect();
            self.recorder.on_warm_up_end(&open);
        }
        if self.samples.as_mut().is_some_and(|samples| samples.is_due(now)) {
            self.take_samples(now);
        }
        for sender in self.apps.senders() {
            if let Some(due) = self.apps.take_due_sender(sender, now) {
                // The sender gets the time at which it was due: lateness of this machine counts as delay of the unit.
                with_sender(self, sender, due, |sender, io| sender.on_wake(io));
            }
        }
        for receiver in self.apps.receivers() {
            if self.apps.take_due_receiver(receiver, now) {
                with_receiver(self, receiver, |receiver, io| receiver.on_wake(io));
            }
        }
        if self.next_drain <= now {
            self.next_drain = now + DRAIN_POLL_INTERVAL;
            self.check_drained(now);
        }
    }

    fn next_time(&self, now: Instant) -> Instant {
        // Without data in flight nothing has to be polled, and the thread can sleep longer.
        let is_draining = self.connections.iter().any(ConnectionState::may_drain);
        let drain = if is_draining { self.next_drain } else { Instant::NEVER };
        let sample = self.samples.and_then(|samples| samples.next()).unwrap_or(Instant::NEVER);
        let due = [self.apps.next_wake(), self.end, self.mark, sample, drain, now + MAX_WAIT];
        due.into_iter().min().unwrap_or(now)
    }

    fn connections(&self) -> impl Iterator<Item = (ConnectionId, FlowId)> {
        (0..).zip(&self.connections).map(|(number, connection)| (ConnectionId(number), connection.flow))
    }

    fn take_samples(&mut self, now: Instant) {
        let gauges: Vec<_> = self.connections().map(|(id, flow)| (flow, self.hosts.gauges(id))).collect();
        for (flow, gauges) in gauges {
            self.recorder.on_probe(now, flow, &gauges);
        }
    }

    fn check_drained(&mut self, now: Instant) {
        for number in 0..self.connections.len() {
            let id = ConnectionId(number as u32);
            // A system call per connection: made only while its result can matter.
            if self.connections[number].may_drain() && self.hosts.is_drained(id) {
                self.connections[number].is_undrained = false;
                let sender = self.connections[number].sender;
                with_sender(self, sender, now, |sender, io| sender.on_drained(io, id));
            }
        }
    }

    fn on_ready(&mut self, readiness: Readiness) {
        match readiness {
            Readiness::Writable(id) => self.flush(id),
            Readiness::Readable(id) => self.on_readable(id),
        }
    }

    /// Writes waiting bytes while the opener has room, then closes if requested.
    pub(crate) fn flush(&mut self, id: ConnectionId) {
        let connection = &mut self.connections[id.0 as usize];
        // Sockets accept as much as they have room for: write until one accepts nothing, then wait for `Writable`.
        while connection.waiting > 0 {
            let taken = self.hosts.write(id, connection.waiting);
            connection.waiting -= taken;
            if taken == 0 {
                return;
            }
        }
        if connection.is_closing {
            self.hosts.close(id);
        }
    }

    /// Handles new data at a listener.
    fn on_readable(&mut self, id: ConnectionId) {
        let ConnectionState { flow, receiver, .. } = self.connections[id.0 as usize];
        let info = &self.flows[flow.0 as usize];
        // Frames are reported when they are read.
        if info.has_units && !info.has_frames {
            self.recorder.on_delivered(self.clock.now(), flow, self.hosts.received(id));
        }
        match receiver {
            Some(receiver) => with_receiver(self, receiver, |receiver, io| receiver.on_readable(io)),
            None => while self.hosts.read(id, u64::MAX) > 0 {},
        }
    }

    /// Opens a connection for a sender.
    pub(crate) fn open_connection(&mut self, sender: SenderId) -> io::Result<ConnectionId> {
        let flow = self.apps.flow_of_sender(sender);
        let id = self.hosts.open(self.clock.now(), flow)?;
        let receiver = self.flows[flow.0 as usize].receiver.filter(|receiver| self.apps.attach(*receiver, id, 0));
        if let Some(receiver) = receiver {
            self.apps.set_receiver_wake(receiver, self.clock.now());
        }
        let (waiting, is_undrained, is_closing, unit_map) = (0, false, false, UnitMap::default());
        self.connections.push(ConnectionState { flow, sender, receiver, waiting, is_undrained, is_closing, unit_map });
        Ok(id)
    }

    /// Writes bytes to a stream.
    pub(crate) fn write_stream(&mut self, id: ConnectionId, bytes: u64) {
        let Some(connection) = self.connections.get_mut(id.0 as usize) else { return };
        connection.waiting += bytes;
        connection.is_undrained = true;
        self.flush(id);
    }

    /// Writes a unit whose delay counts from `created`.
    pub(crate) fn write_unit_at(&mut self, flow: FlowId, id: ConnectionId, bytes: u64, created: Instant) {
        let Some(connection) = self.connections.get_mut(id.0 as usize) else { return };
        let info = &mut self.flows[flow.0 as usize];
        info.has_units = true;
        self.recorder.on_unit(created, flow, bytes);
        if info.has_frames {
            self.write_frames(id, bytes);
        } else {
            connection.unit_map.push_unit(bytes);
            self.write_stream(id, bytes);
        }
    }

    fn write_frames(&mut self, id: ConnectionId, bytes: u64) {
        let connection = &mut self.connections[id.0 as usize];
        let unit = connection.unit_map.allocate_unit();
        for (part, size) in cut(unit, bytes, self.flows[connection.flow.0 as usize].mss) {
            // Without this part the rest of the unit is worthless.
            if !self.hosts.write_frame(id, part, size) {
                break;
            }
        }
    }

    /// Reads the next part of a unit. With `may_skip`, a transport of frames may skip missing data.
    pub(crate) fn read_unit_part(&mut self, id: ConnectionId, may_skip: bool) -> Option<Part> {
        let flow = self.connections[id.0 as usize].flow;
        if !self.flows[flow.0 as usize].has_frames {
            return self.read_whole(id);
        }
        let part = self.hosts.read_frame(id, may_skip)?;
        if let Some(unit) = self.connections[id.0 as usize].unit_map.complete(part) {
            self.recorder.on_unit_delivered(self.clock.now(), flow, unit as u32);
        }
        Some(part)
    }

    /// Reads the next unit of a stream, if it has arrived completely.
    fn read_whole(&mut self, id: ConnectionId) -> Option<Part> {
        let map = &mut self.connections[id.0 as usize].unit_map;
        loop {
            // Never past the end of the unit: the rest is the reader's next one.
            let read = self.hosts.read(id, map.missing()?);
            map.read_to(map.position() + read);
            match map.pop_complete() {
                None if read > 0 => {}
                part => return part,
            }
        }
    }

    /// Records the counters of all connections.
    fn finish(&mut self) {
        let ends: Vec<_> = self.connections().map(|(id, flow)| (flow, self.hosts.end(self.end, id))).collect();
        for (flow, end) in ends {
            self.recorder.on_end(flow, &end);
        }
    }
}

impl ConnectionState {
    /// Returns whether the opener took all data, so that everything may be acknowledged now.
    const fn may_drain(&self) -> bool {
        self.is_undrained && self.waiting == 0
    }
}

/// Returns the sampling times of a scenario.
pub(crate) fn samples_of(scenario: &Scenario) -> Option<Samples> {
    let end = Instant::ZERO + scenario.duration.duration();
    scenario.measure.series.map(|period| Samples::every(period.duration(), end))
}
