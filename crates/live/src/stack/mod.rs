//! The stack: connections and listeners over one device.

mod connection_entry;
mod connection_table;
mod counters;
mod encapsulation;
mod frames;
mod id;
mod observer;
mod path_mtu;
mod rx;
mod settings;
mod sockets;
mod timers;

pub use counters::Counters;
pub use frames::AbandonedFrame;
pub use id::Id;
pub use observer::{Direction, Observer};
pub use settings::{Limits, Settings};

use self::connection_entry::ConnectionEntry;
use self::connection_table::ConnectionTable;
use self::counters::RateLimit;
use self::encapsulation::Encapsulator;
use self::observer::ObserverSlot;
use self::path_mtu::BlackHoles;
use self::timers::Timers;
use crate::clock::Clock;
use crate::device::{BATCH, Device, Path, RxQueue, TxQueue};
use crate::event::{Event, EventKind};
use earlybird_tcp::{IpVersion, Listener};
use earlybird_units::Instant;
use earlybird_wire::{Addresses, Segment};
use std::collections::{BTreeMap, VecDeque};
use std::io;

/// Key of a listener: the port, and whether it listens for IPv6.
type ListenKey = (u16, bool);

/// A listener and its mode.
#[derive(Debug)]
struct ListenEntry {
    listener: Listener,
    /// Whether connections use real-time mode, where one write is one segment.
    has_frames: bool,
}

/// A TCP stack; see the [crate documentation](crate).
#[derive(Debug)]
pub struct Stack<D, C> {
    device: D,
    encapsulator: Encapsulator,
    clock: C,
    settings: Settings,
    /// The latest time that was read from the clock.
    now: Instant,
    connections: ConnectionTable,
    listeners: BTreeMap<ListenKey, ListenEntry>,
    timers: Timers,
    rx: RxQueue,
    tx: TxQueue,
    /// Connections that may transmit, in FIFO order.
    tx_ready: VecDeque<Id>,
    /// Connections with pending events.
    with_events: VecDeque<Id>,
    resets: RateLimit,
    counters: Counters,
    /// The number of connections that were opened by `connect`.
    opened: u64,
    observer: ObserverSlot,
    black_holes: BlackHoles,
}

impl<D: Device, C: Clock> Stack<D, C> {
    /// Creates a stack over a device.
    ///
    /// # Errors
    ///
    /// If the MTU of the device is below that of IPv4.
    pub fn new(device: D, clock: C, settings: Settings) -> Result<Self, crate::Error> {
        settings::check_mtu(IpVersion::V4, device.mtu())?;
        Ok(Self {
            now: clock.now(),
            encapsulator: Encapsulator::of(&device),
            device,
            clock,
            resets: RateLimit::new(settings.limits.resets),
            settings,
            connections: ConnectionTable::default(),
            listeners: BTreeMap::new(),
            timers: Timers::default(),
            rx: RxQueue::default(),
            tx: TxQueue::default(),
            tx_ready: VecDeque::new(),
            with_events: VecDeque::new(),
            counters: Counters::default(),
            opened: 0,
            observer: ObserverSlot::default(),
            black_holes: BlackHoles::default(),
        })
    }

    /// Receives, runs timers, and transmits. Returns whether any packet was processed.
    ///
    /// # Errors
    ///
    /// If the device is gone.
    pub fn turn(&mut self) -> io::Result<bool> {
        let has_received = self.receive()?;
        Ok(self.transmit()? || has_received)
    }

    /// Processes up to a batch of received packets, and runs the timers that are due. Returns whether any packet was received.
    ///
    /// # Errors
    ///
    /// If the device is gone.
    pub fn receive(&mut self) -> io::Result<bool> {
        // Moved out to satisfy the borrow checker: the packets are processed while the rest of the stack is borrowed.
        let mut rx = std::mem::take(&mut self.rx);
        let count = self.receive_batch(&mut rx);
        self.rx = rx;
        // Restore the queue before an error is returned.
        let count = count?;
        self.counters.received += count as u64;
        // After the packets: an ACK that has arrived stops the timer that it would otherwise race with.
        self.run_timers();
        Ok(count > 0)
    }

    /// Runs the timers that are due, where the device has nothing to receive.
    pub fn run_due_timers(&mut self) {
        self.update_now();
        self.run_timers();
    }

    fn receive_batch(&mut self, rx: &mut RxQueue) -> io::Result<usize> {
        if rx.is_empty() {
            rx.clear();
            self.device.receive(rx)?;
        }
        // Read the clock after the packets: a packet that arrived while this thread was preempted would seem to have arrived
        // before it was received, which shortens RTT samples.
        self.update_now();
        let mut count = 0;
        while count < BATCH
            && let Some(received) = rx.take()
        {
            let packet = rx.bytes.get(received.range.clone()).unwrap_or_default();
            count += self.on_packet(&received, packet);
        }
        Ok(count)
    }

    /// Transmits one batch of packets. Returns whether any packet was sent.
    ///
    /// # Errors
    ///
    /// If the device is gone.
    pub fn transmit(&mut self) -> io::Result<bool> {
        self.update_now();
        self.device.send(&mut self.tx)?;
        // The device is still full: no new batch, so that segments are built as late as possible.
        if !self.tx.is_empty() {
            return Ok(false);
        }
        self.fill_tx();
        let count = self.tx.pending().len();
        self.counters.sent += count as u64;
        for queued in self.tx.pending() {
            let packet = self.tx.bytes(queued.range.clone());
            self.observer.on_packet(self.now, Direction::Tx, queued.path, packet);
        }
        self.device.send(&mut self.tx)?;
        self.fit_refused();
        Ok(count > 0)
    }

    fn fill_tx(&mut self) {
        self.retransmit_syn_acks();
        while !self.tx.is_full()
            && let Some(id) = self.tx_ready.pop_front()
        {
            self.transmit_from(id);
        }
    }

    /// Returns when to call [`Self::turn`] again if nothing arrives before: now, if there is more work. Packets that the device
    /// cannot accept do not count; see [`Self::is_congested`].
    pub fn deadline(&mut self) -> Option<Instant> {
        if !self.rx.is_empty() || (!self.tx_ready.is_empty() && self.tx.is_empty()) {
            return Some(self.now);
        }
        // SYN-ACK retransmissions of listeners are not in the heap; there are few listeners.
        let listeners = self.listeners.values().filter_map(|listen_entry| listen_entry.listener.poll_timeout()).min();
        let connections = self.timers.first(&mut self.connections);
        [listeners, connections].into_iter().flatten().min()
    }

    /// Returns whether packets wait because the device cannot accept them.
    pub fn is_congested(&self) -> bool {
        !self.tx.is_empty()
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<(Id, Event)> {
        loop {
            // A connection stays at the front until its events are drained, so that they are returned in order.
            let id = *self.with_events.front()?;
            let event = self.connections.get_mut(id).and_then(ConnectionEntry::next_event);
            if event.is_some() {
                return event.map(|event| (id, event));
            }
            self.with_events.pop_front();
        }
    }

    /// Sets or removes the observer.
    pub fn set_observer(&mut self, observer: Option<Box<dyn Observer>>) {
        self.observer.0 = observer;
    }

    /// Returns the counters.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the device.
    pub const fn device(&self) -> &D {
        &self.device
    }

    /// Returns the time of the stack: the latest that was read from the clock.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Returns the clock.
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    /// Returns the number of connections, including those that the application has closed.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    fn update_now(&mut self) {
        self.now = self.now.max(self.clock.now());
    }

    /// Runs the timers that are due.
    fn run_timers(&mut self) {
        while let Some(id) = self.timers.take(&mut self.connections, self.now) {
            self.run_timer(id);
            self.after_update(id);
        }
    }

    /// Queues a connection for transmission and events, after anything changed it.
    fn after_update(&mut self, id: Id) {
        let Some(entry) = self.connections.get_mut(id) else { return };
        self.observer.on_update(self.now, id, &entry.connection);
        entry.drain_events();
        if !entry.is_tx_queued {
            entry.is_tx_queued = true;
            self.tx_ready.push_back(id);
        }
        self.queue_events(id);
    }

    fn queue_events(&mut self, id: Id) {
        let Some(entry) = self.connections.get_mut(id) else { return };
        if !entry.pending_events.is_empty() && !entry.is_event_queued && !entry.is_released {
            entry.is_event_queued = true;
            self.with_events.push_back(id);
        }
    }

    /// Transmits from a connection. If the queue is full before it is done, it continues after all others (round robin).
    fn transmit_from(&mut self, id: Id) {
        let Some(entry) = self.connections.get_mut(id) else { return };
        let is_done =
            entry.transmit_from(&mut self.observer.trace_adapter(self.now, id), self.encapsulator, &mut self.tx);
        entry.is_tx_queued = !is_done;
        // Round robin: a bulk transfer must not starve other connections.
        if !is_done {
            self.tx_ready.push_back(id);
        }
        entry.drain_events();
        self.notify_listener(id);
        self.queue_events(id);
        self.timers.schedule(&mut self.connections, id);
        if self.connections.get(id).is_some_and(ConnectionEntry::is_finished) {
            self.connections.remove(id);
        }
    }

    /// Retransmits the SYN-ACKs of half-open connections.
    fn retransmit_syn_acks(&mut self) {
        for listen_entry in self.listeners.values_mut() {
            while let Some((addresses, answer)) = listen_entry.listener.poll_transmit(self.now) {
                let path = rx::path_from(&addresses, self.encapsulator.encapsulation);
                self.encapsulator.emit(&mut self.tx, path, &addresses.reversed(), &answer, [&[]; 2]);
            }
        }
    }

    /// Adds a connection.
    fn insert(&mut self, mut entry: ConnectionEntry) -> Id {
        entry.last_received = self.now;
        let id = self.connections.insert(entry);
        self.after_update(id);
        id
    }

    /// Replies to a segment without connection; `addresses` are those of that segment.
    fn reply(&mut self, addresses: &Addresses, path: Path, answer: &Segment) {
        self.encapsulator.emit(&mut self.tx, path, &addresses.reversed(), answer, [&[]; 2]);
    }
}

impl ConnectionEntry {
    fn next_event(&mut self) -> Option<Event> {
        let kind = if self.is_released { None } else { self.pending_events.take() };
        self.is_event_queued = kind.is_some();
        Some(match kind? {
            EventKind::Incoming => Event::Incoming(self.addresses.destination_port),
            EventKind::Established => Event::Established,
            EventKind::Readable => Event::Readable,
            EventKind::Writable => Event::Writable,
            EventKind::Drained => Event::Drained,
            EventKind::PeerClosed => Event::PeerClosed,
            EventKind::LossReported => Event::LossReported,
            EventKind::Unanswered => Event::Unanswered,
            EventKind::Closed => Event::Closed(self.connection.ending()?),
        })
    }
}
