//! Connections and listeners over one device, by one clock.

mod arrivals;
mod counters;
mod deadlines;
mod flow;
mod flows;
mod form;
mod frames;
mod settings;
mod sockets;
mod watching;

pub use counters::Counters;
pub use flows::Id;
pub use settings::{Limits, Settings};
pub use watching::{Watch, Way};

use self::counters::Allowance;
use self::deadlines::Deadlines;
use self::flow::Flow;
use self::flows::Flows;
use self::form::Form;
use self::watching::Watcher;
use crate::clock::Clock;
use crate::device::{BATCH, Device, Inbox, Outbox, Path};
use crate::event::{Event, Kind};
use earlybird_tcp::{IpVersion, Listener};
use earlybird_units::Instant;
use earlybird_wire::{Addresses, Segment};
use std::collections::{BTreeMap, VecDeque};
use std::io;

/// A port at which somebody listens, and whether it is that of IPv6.
type Door = (u16, bool);

/// What is behind it.
#[derive(Debug)]
struct Entrance {
    listener: Listener,
    /// One write is one segment.
    has_frames: bool,
}

/// A stack; see the [crate's page](crate).
#[derive(Debug)]
pub struct Stack<D, C> {
    device: D,
    form: Form,
    clock: C,
    settings: Settings,
    /// The latest time that the clock told.
    now: Instant,
    flows: Flows,
    listeners: BTreeMap<Door, Entrance>,
    deadlines: Deadlines,
    inbox: Inbox,
    outbox: Outbox,
    /// Connections that may have something to send, in the order in which they came to.
    due: VecDeque<Id>,
    /// Connections that have something to tell.
    telling: VecDeque<Id>,
    resets: Allowance,
    counters: Counters,
    /// Connections that were opened from here so far.
    opened: u64,
    watcher: Watcher,
}

impl<D: Device, C: Clock> Stack<D, C> {
    /// Makes a stack over a device.
    ///
    /// # Errors
    ///
    /// If the device carries packets too small for TCP over either version of IP.
    pub fn new(device: D, clock: C, settings: Settings) -> Result<Self, crate::Error> {
        settings::check_mtu(IpVersion::V4, device.mtu())?;
        Ok(Self {
            now: clock.now(),
            form: Form::of(&device),
            device,
            clock,
            resets: Allowance::new(settings.limits.resets),
            settings,
            flows: Flows::default(),
            listeners: BTreeMap::new(),
            deadlines: Deadlines::default(),
            inbox: Inbox::default(),
            outbox: Outbox::default(),
            due: VecDeque::new(),
            telling: VecDeque::new(),
            counters: Counters::default(),
            opened: 0,
            watcher: Watcher::default(),
        })
    }

    /// Takes in what has arrived and does what is due; then lets leave what has to. Says whether there was anything to do.
    ///
    /// # Errors
    ///
    /// If the device is gone.
    pub fn turn(&mut self) -> io::Result<bool> {
        let has_received = self.receive()?;
        Ok(self.transmit()? || has_received)
    }

    /// Takes in up to a batch of what has arrived, and wakes the connections whose time has come. Says whether anything came.
    ///
    /// # Errors
    ///
    /// If the device is gone.
    pub fn receive(&mut self) -> io::Result<bool> {
        // Lent out, so that the rest of the stack can be touched meanwhile.
        let mut inbox = std::mem::take(&mut self.inbox);
        let count = self.take_in(&mut inbox);
        self.inbox = inbox;
        let count = count?;
        self.counters.arrived += count as u64;
        self.wake();
        Ok(count > 0)
    }

    fn take_in(&mut self, inbox: &mut Inbox) -> io::Result<usize> {
        if inbox.is_empty() {
            inbox.clear();
            self.device.receive(inbox)?;
        }
        // Now, and not before: what arrived while the processor was somewhere else would seem to have come earlier than it did.
        self.look_at_the_clock();
        let mut count = 0;
        while count < BATCH
            && let Some(arrival) = inbox.take()
        {
            let packet = inbox.bytes.get(arrival.range.clone()).unwrap_or_default();
            count += self.on_arrival(&arrival, packet);
        }
        Ok(count)
    }

    /// Lets a batch leave of what has to; says whether anything did.
    ///
    /// # Errors
    ///
    /// If the device is gone.
    pub fn transmit(&mut self) -> io::Result<bool> {
        self.look_at_the_clock();
        self.device.send(&mut self.outbox)?;
        if !self.outbox.is_empty() {
            return Ok(false);
        }
        self.fill_outbox();
        let count = self.outbox.waiting().len();
        self.counters.sent += count as u64;
        for departure in self.outbox.waiting() {
            let packet = self.outbox.bytes(departure.range.clone());
            self.watcher.on_packet(self.now, Way::Out, departure.path, packet);
        }
        self.device.send(&mut self.outbox)?;
        Ok(count > 0)
    }

    fn fill_outbox(&mut self) {
        self.repeat_answers();
        while !self.outbox.is_full()
            && let Some(id) = self.due.pop_front()
        {
            self.speak(id);
        }
    }

    /// Returns the time at which to come back if nothing arrives before: at once, if there is more to do now. What the device does
    /// not take is not waited for here: [`Self::is_congested`].
    pub fn deadline(&mut self) -> Option<Instant> {
        if !self.inbox.is_empty() || (!self.due.is_empty() && self.outbox.is_empty()) {
            return Some(self.now);
        }
        let listeners = self.listeners.values().filter_map(|entrance| entrance.listener.poll_timeout()).min();
        let connections = self.deadlines.first(&mut self.flows);
        [listeners, connections].into_iter().flatten().min()
    }

    /// Returns whether packets wait for the device, which cannot take them now.
    pub fn is_congested(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Returns the next thing that an application should know.
    pub fn poll_event(&mut self) -> Option<(Id, Event)> {
        loop {
            let id = *self.telling.front()?;
            let told = self.flows.get_mut(id).and_then(Flow::tell);
            if told.is_some() {
                return told.map(|event| (id, event));
            }
            self.telling.pop_front();
        }
    }

    /// Has somebody look on from now on, or nobody.
    pub fn watch(&mut self, watch: Option<Box<dyn Watch>>) {
        self.watcher.0 = watch;
    }

    /// Returns the counters.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the device.
    pub const fn device(&self) -> &D {
        &self.device
    }

    /// Returns the time as the stack last saw it.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Returns the clock.
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    /// Returns how many connections there are, those among them that the application has closed.
    pub fn connections(&self) -> usize {
        self.flows.len()
    }

    fn look_at_the_clock(&mut self) {
        self.now = self.now.max(self.clock.now());
    }

    /// Wakes those whose time has come.
    fn wake(&mut self) {
        while let Some(id) = self.deadlines.take(&mut self.flows, self.now) {
            if let Some(flow) = self.flows.get_mut(id) {
                self.watcher.during(self.now, id, |cx| flow.connection.on_timeout(cx));
            }
            self.after(id);
        }
    }

    /// Something happened to a connection: it may have something to tell and to send.
    fn after(&mut self, id: Id) {
        let Some(flow) = self.flows.get_mut(id) else { return };
        self.watcher.on_state(self.now, id, &flow.connection);
        flow.listen();
        if !flow.is_due {
            flow.is_due = true;
            self.due.push_back(id);
        }
        self.tell(id);
    }

    fn tell(&mut self, id: Id) {
        let Some(flow) = self.flows.get_mut(id) else { return };
        if !flow.untold.is_empty() && !flow.is_telling && !flow.is_released {
            flow.is_telling = true;
            self.telling.push_back(id);
        }
    }

    /// Lets a connection send; if there is more than fits it is asked again.
    fn speak(&mut self, id: Id) {
        let Some(flow) = self.flows.get_mut(id) else { return };
        let is_done = flow.speak(&mut self.watcher.teller(self.now, id), self.form, &mut self.outbox);
        flow.is_due = !is_done;
        if !is_done {
            self.due.push_back(id);
        }
        flow.listen();
        self.settle(id);
        self.tell(id);
        self.deadlines.enter(&mut self.flows, id);
        if self.flows.get(id).is_some_and(Flow::is_over) {
            self.flows.remove(id);
        }
    }

    /// Answers of half-open handshakes that go again.
    fn repeat_answers(&mut self) {
        for entrance in self.listeners.values_mut() {
            while let Some((addresses, answer)) = entrance.listener.poll_transmit(self.now) {
                let path = arrivals::path_to(&addresses, self.form.carriage);
                self.form.put(&mut self.outbox, path, &addresses.reversed(), &answer, [&[]; 2]);
            }
        }
    }

    /// Enters a connection.
    fn enter(&mut self, flow: Flow) -> Id {
        let id = self.flows.insert(flow);
        self.after(id);
        id
    }

    /// Puts an answer of no connection into the outbox; `addresses` are those of what it answers.
    fn answer(&mut self, addresses: &Addresses, path: Path, answer: &Segment) {
        self.form.put(&mut self.outbox, path, &addresses.reversed(), answer, [&[]; 2]);
    }
}

impl Flow {
    fn tell(&mut self) -> Option<Event> {
        let kind = if self.is_released { None } else { self.untold.take() };
        self.is_telling = kind.is_some();
        Some(match kind? {
            Kind::Incoming => Event::Incoming(self.addresses.destination_port),
            Kind::Established => Event::Established,
            Kind::Readable => Event::Readable,
            Kind::Writable => Event::Writable,
            Kind::Drained => Event::Drained,
            Kind::PeerClosed => Event::PeerClosed,
            Kind::LossReported => Event::LossReported,
            Kind::Unanswered => Event::Unanswered,
            Kind::Closed => Event::Closed(self.connection.ending()?),
        })
    }
}
