//! A run, as its applications live it.

use crate::app_io::{RuntimeReceiverIo, RuntimeSenderIo};
use crate::clock::Clock;
use crate::hosts::{Hosts, Readiness};
use crate::links::Samples;
use crate::unit_map::UnitMap;
use earlybird_emulator::DelayHistogram;
use earlybird_experiment::{FlowSpec, Recorder};
use earlybird_scenario::Scenario;
use earlybird_sim::{Carrier, FlowId, Observer};
use earlybird_traffic::{Application, Completion, ConnectionId, Io, Listener, ListenerIo, Part, cut};
use earlybird_units::{Duration, Instant};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// An application that writes.
pub(crate) struct SenderSlot {
    /// Away while it acts.
    application: Option<Box<dyn Application>>,
    pub(crate) flow: usize,
    pub(crate) wake: Instant,
}

/// Who views the first connection of a flow.
pub(crate) struct ReceiverSlot {
    /// Away while it acts.
    viewer: Option<Box<dyn Listener>>,
    pub(crate) flow: usize,
    pub(crate) connection: Option<ConnectionId>,
    pub(crate) wake: Instant,
}

/// What is known of a connection besides what its hosts know.
pub(crate) struct ConnectionState {
    pub(crate) flow: usize,
    sender: usize,
    receiver: Option<usize>,
    /// Bytes written that the opener had no room for.
    pub(crate) waiting: u64,
    /// Something was written since the opener was last known to have everything acknowledged.
    pub(crate) is_undrained: bool,
    pub(crate) is_closing: bool,
    /// Where in its stream units are; of frames which were written, and read.
    unit_map: UnitMap,
    units: u64,
    completion: Completion,
}

/// A flow, as far as its applications ask.
pub(crate) struct Flow {
    pub(crate) mss: u64,
    has_units: bool,
    /// It carries frames, not a stream.
    has_frames: bool,
    receiver: Option<usize>,
}

/// All that goes on in a run but for the carrying of packets.
pub(crate) struct AppRuntime<H> {
    pub(crate) hosts: H,
    pub(crate) recorder: Recorder,
    pub(crate) clock: Clock,
    pub(crate) flows: Vec<Flow>,
    pub(crate) senders: Vec<SenderSlot>,
    pub(crate) receivers: Vec<ReceiverSlot>,
    /// By number of the connection.
    pub(crate) connections: Vec<ConnectionState>,
    /// What the system refused to an application, which could not be told.
    pub(crate) failure: Option<io::Error>,
    end: Instant,
    mark: Instant,
    samples: Option<Samples>,
    next_drain: Instant,
    /// How much later than it asked for this thread was woken.
    pub(crate) wakes: DelayHistogram,
}

/// Time between two questions whether everything written was acknowledged, of which a kernel tells nobody.
const DRAIN_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Longest wait, after which is asked whether to stop.
const MAX_WAIT: Duration = Duration::from_millis(20);

impl<H: Hosts> AppRuntime<H> {
    /// Makes a run that has not begun, of all of a topology but its network.
    pub(crate) fn new(scenario: &Scenario, flows: Vec<FlowSpec>, recorder: Recorder, hosts: H, clock: Clock) -> Self {
        let mut runtime = Self {
            hosts,
            recorder,
            clock,
            flows: Vec::new(),
            senders: Vec::new(),
            receivers: Vec::new(),
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
        let flow = self.flows.len();
        for (wake, application) in spec.sources {
            self.senders.push(SenderSlot { application: Some(application), flow, wake });
        }
        let receiver = spec.viewer.map(|viewer| {
            let viewer: Option<Box<dyn Listener>> = Some(Box::new(viewer));
            self.receivers.push(ReceiverSlot { viewer, flow, connection: None, wake: Instant::NEVER });
            self.receivers.len() - 1
        });
        let has_frames = matches!(&spec.carrier, Carrier::Tcp(settings) if settings.opener.real_time.framing);
        self.flows.push(Flow { mss: mss_of(&spec.carrier), has_units: false, has_frames, receiver });
    }

    /// Lets everything happen up to the end of the run, or until somebody says stop.
    pub(crate) fn run(&mut self, stop: &AtomicBool) -> io::Result<()> {
        let mut ready = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let now = self.clock.now();
            if now >= self.end {
                self.finish();
                break;
            }
            self.do_due(now);
            let due = self.next_time(now);
            self.hosts.wait(due.since(self.clock.now()), &mut ready)?;
            let woken = self.clock.now();
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

    /// Tells the recorder what senders decided.
    fn note_decisions(&mut self) {
        for (at, id, event) in self.hosts.decisions() {
            self.recorder.on_trace(at, FlowId(self.connections[id.0 as usize].flow as u32), event);
        }
    }

    /// Does what is due by now: what is counted first, then what acts.
    fn do_due(&mut self, now: Instant) {
        if self.mark <= now {
            self.mark = Instant::NEVER;
            let received: Vec<_> = self.connections().map(|(id, flow)| (flow, self.hosts.received(id))).collect();
            self.recorder.on_mark(&received);
        }
        if self.samples.as_mut().is_some_and(|samples| samples.is_due(now)) {
            self.take_samples(now);
        }
        for sender in 0..self.senders.len() {
            let due = self.senders[sender].wake;
            if due <= now {
                self.senders[sender].wake = Instant::NEVER;
                // What is written late was due when it was: the time counts as delay, as every other that this machine adds.
                self.with_sender(sender, due, |application, io| application.on_wake(io));
            }
        }
        for receiver in 0..self.receivers.len() {
            if self.receivers[receiver].wake <= now {
                self.receivers[receiver].wake = Instant::NEVER;
                self.with_receiver(receiver, |viewer, io| viewer.on_wake(io));
            }
        }
        if self.next_drain <= now {
            self.next_drain = now + DRAIN_POLL_INTERVAL;
            self.check_drained(now);
        }
    }

    fn next_time(&self, now: Instant) -> Instant {
        let senders = self.senders.iter().map(|sender| sender.wake);
        let receivers = self.receivers.iter().map(|receiver| receiver.wake);
        let is_draining = self.connections.iter().any(ConnectionState::may_drain);
        let drain = if is_draining { self.next_drain } else { Instant::NEVER };
        let sample = self.samples.and_then(|samples| samples.next()).unwrap_or(Instant::NEVER);
        let others = [self.end, self.mark, sample, drain, now + MAX_WAIT];
        senders.chain(receivers).chain(others).min().unwrap_or(now)
    }

    fn connections(&self) -> impl Iterator<Item = (ConnectionId, FlowId)> {
        (0..).zip(&self.connections).map(|(number, connection)| (ConnectionId(number), FlowId(connection.flow as u32)))
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
            if self.connections[number].may_drain() && self.hosts.is_drained(id) {
                self.connections[number].is_undrained = false;
                let sender = self.connections[number].sender;
                self.with_sender(sender, now, |application, io| application.on_drained(io, id));
            }
        }
    }

    fn on_ready(&mut self, readiness: Readiness) {
        match readiness {
            Readiness::Writable(id) => self.flush(id),
            Readiness::Readable(id) => self.on_readable(id),
        }
    }

    /// Returns the opener what it has room for.
    pub(crate) fn flush(&mut self, id: ConnectionId) {
        let connection = &mut self.connections[id.0 as usize];
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

    /// Reads, or lets read, what came.
    fn on_readable(&mut self, id: ConnectionId) {
        let connection = &self.connections[id.0 as usize];
        let (flow, receiver) = (connection.flow, connection.receiver);
        // Of frames each is known when it is read.
        if self.flows[flow].has_units && !self.flows[flow].has_frames {
            self.recorder.on_delivered(self.clock.now(), FlowId(flow as u32), self.hosts.received(id));
        }
        match receiver {
            Some(receiver) => self.with_receiver(receiver, |viewer, io| viewer.on_readable(io)),
            None => while self.hosts.read(id, u64::MAX) > 0 {},
        }
    }

    fn with_sender(&mut self, sender: usize, now: Instant, act: impl FnOnce(&mut dyn Application, &mut dyn Io)) {
        let Some(mut application) = self.senders[sender].application.take() else { return };
        act(&mut *application, &mut RuntimeSenderIo { runtime: self, sender, now });
        self.senders[sender].application = Some(application);
    }

    fn with_receiver(&mut self, receiver: usize, act: impl FnOnce(&mut dyn Listener, &mut dyn ListenerIo)) {
        let Some(mut viewer) = self.receivers[receiver].viewer.take() else { return };
        act(&mut *viewer, &mut RuntimeReceiverIo { runtime: self, receiver });
        self.receivers[receiver].viewer = Some(viewer);
    }

    /// Opens a connection for an sender.
    pub(crate) fn open(&mut self, sender: usize) -> io::Result<ConnectionId> {
        let flow = self.senders[sender].flow;
        let id = self.hosts.open(self.clock.now(), FlowId(flow as u32))?;
        let receiver = self.flows[flow].receiver.filter(|receiver| self.receivers[*receiver].connection.is_none());
        if let Some(receiver) = receiver {
            self.receivers[receiver].connection = Some(id);
            self.receivers[receiver].wake = self.clock.now();
        }
        self.connections.push(ConnectionState {
            flow,
            sender,
            receiver,
            waiting: 0,
            is_undrained: false,
            is_closing: false,
            unit_map: UnitMap::default(),
            units: 0,
            completion: Completion::default(),
        });
        Ok(id)
    }

    /// Writes bytes of a stream.
    pub(crate) fn write(&mut self, id: ConnectionId, bytes: u64) {
        let Some(connection) = self.connections.get_mut(id.0 as usize) else { return };
        connection.waiting += bytes;
        connection.is_undrained = true;
        self.flush(id);
    }

    /// Writes a unit that was due at a time.
    pub(crate) fn write_unit(&mut self, due: Instant, id: ConnectionId, bytes: u64) {
        let Some(connection) = self.connections.get_mut(id.0 as usize) else { return };
        let flow = connection.flow;
        self.flows[flow].has_units = true;
        self.recorder.on_unit(due, FlowId(flow as u32), bytes);
        if self.flows[flow].has_frames {
            self.write_frames(id, bytes);
        } else {
            connection.unit_map.put(bytes);
            self.write(id, bytes);
        }
    }

    /// Where a frame is refused, the rest of its unit is worthless.
    fn write_frames(&mut self, id: ConnectionId, bytes: u64) {
        let connection = &mut self.connections[id.0 as usize];
        let parts = cut(connection.units, bytes, self.flows[connection.flow].mss);
        connection.units += 1;
        for (part, size) in parts {
            if !self.hosts.write_frame(id, part, size) {
                break;
            }
        }
    }

    /// Reads the next part of a unit for a viewer, of frames also behind what is missing if it may wait.
    pub(crate) fn read_part(&mut self, id: ConnectionId, may_wait: bool) -> Option<Part> {
        let flow = self.connections[id.0 as usize].flow;
        if !self.flows[flow].has_frames {
            return self.read_whole(id);
        }
        let part = self.hosts.read_frame(id, may_wait)?;
        if let Some(unit) = self.connections[id.0 as usize].completion.take(part) {
            self.recorder.on_unit_delivered(self.clock.now(), FlowId(flow as u32), unit as u32);
        }
        Some(part)
    }

    /// Reads a unit of a stream, if it is there to its end.
    fn read_whole(&mut self, id: ConnectionId) -> Option<Part> {
        let unit_map = &mut self.connections[id.0 as usize].unit_map;
        loop {
            let read = self.hosts.read(id, unit_map.missing()?);
            match unit_map.take(read) {
                None if read > 0 => {}
                part => return part,
            }
        }
    }

    /// Counts what all connections have done.
    fn finish(&mut self) {
        let ends: Vec<_> = self.connections().map(|(id, flow)| (flow, self.hosts.end(self.end, id))).collect();
        for (flow, end) in ends {
            self.recorder.on_end(flow, &end);
        }
    }
}

impl ConnectionState {
    /// Returns whether all that was written is with the opener, and may have been acknowledged since.
    const fn may_drain(&self) -> bool {
        self.is_undrained && self.waiting == 0
    }
}

/// Returns when a scenario wants samples.
pub(crate) fn samples_of(scenario: &Scenario) -> Option<Samples> {
    let end = Instant::ZERO + scenario.duration.duration();
    scenario.measure.series.map(|period| Samples::every(period.duration(), end))
}

/// Returns the payload of a full segment.
pub(crate) fn mss_of(carrier: &Carrier) -> u64 {
    match carrier {
        Carrier::Tcp(settings) => settings.opener.segments.mss.into(),
        Carrier::Datagrams(settings) => settings.config.mss.into(),
        Carrier::External(settings) => settings.mss.into(),
    }
}
