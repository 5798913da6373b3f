//! The host of applications, common to the simulator and the backends in real time.
//!
//! A backend owns an [`AppTable`] and implements [`AppHost`]. [`with_sender`] and [`with_receiver`] call an application with a
//! handle through which it acts on the host. The host only moves bytes and keeps time; which application reads and writes where,
//! and which requests are outstanding, is kept here.

use crate::{
    ConnectionId, Encoding, FlowId, Part, PathId, Playout, ReceiverApp, ReceiverIo, Request, SenderApp, SenderIo,
    Transfer,
};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use earlybird_units::{Duration, Instant};

/// Identifies a sender application of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SenderId(pub u32);

/// Identifies a receiver application of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReceiverId(pub u32);

/// A sender application with its host's state.
#[derive(Debug)]
struct SenderSlot {
    /// `None` while a callback runs, so that the callback can borrow the host.
    app: Option<Box<dyn SenderApp>>,
    flow: FlowId,
    wake: Instant,
}

/// A receiver application with its host's state. It reads the first connection of its flow.
#[derive(Debug)]
struct ReceiverSlot {
    /// `None` while a callback runs, so that the callback can borrow the host.
    app: Option<Box<dyn ReceiverApp>>,
    flow: FlowId,
    /// The connection, and its generation if the host uses numbers again.
    connection: Option<(ConnectionId, u32)>,
    wake: Instant,
    /// Messages sent back to the opener.
    messages: u64,
    /// Requests that have not reached the opener, each with the stream position at which it ends.
    requests: VecDeque<(u64, Request)>,
    requested_bytes: u64,
}

/// The applications of a run.
#[derive(Debug, Default)]
pub struct AppTable {
    senders: Vec<SenderSlot>,
    receivers: Vec<ReceiverSlot>,
}

impl AppTable {
    /// Adds a sender that is woken first at `start`.
    pub fn add_sender(&mut self, flow: FlowId, app: Box<dyn SenderApp>, start: Instant) -> SenderId {
        self.senders.push(SenderSlot { app: Some(app), flow, wake: start });
        SenderId(self.senders.len() as u32 - 1)
    }

    /// Adds a receiver that reads the first connection of a flow.
    pub fn add_receiver(&mut self, flow: FlowId, app: Box<dyn ReceiverApp>) -> ReceiverId {
        self.receivers.push(ReceiverSlot {
            app: Some(app),
            flow,
            connection: None,
            wake: Instant::NEVER,
            messages: 0,
            requests: VecDeque::new(),
            requested_bytes: 0,
        });
        ReceiverId(self.receivers.len() as u32 - 1)
    }

    /// Returns the flow of a sender.
    pub fn flow_of_sender(&self, id: SenderId) -> FlowId {
        self.senders[id.0 as usize].flow
    }

    /// Returns the time at which a sender is to be woken.
    pub fn sender_wake(&self, id: SenderId) -> Instant {
        self.senders[id.0 as usize].wake
    }

    /// Returns a sender that is due at `now`, with the time at which it was due. It is not due again before its next request.
    pub fn take_due_sender(&mut self, id: SenderId, now: Instant) -> Option<Instant> {
        take_due(&mut self.senders[id.0 as usize].wake, now)
    }

    /// Returns whether a receiver is due at `now`. It is not due again before its next request.
    pub fn take_due_receiver(&mut self, id: ReceiverId, now: Instant) -> bool {
        take_due(&mut self.receivers[id.0 as usize].wake, now).is_some()
    }

    /// Returns all senders.
    pub fn senders(&self) -> impl Iterator<Item = SenderId> + use<> {
        (0..self.senders.len() as u32).map(SenderId)
    }

    /// Returns all receivers.
    pub fn receivers(&self) -> impl Iterator<Item = ReceiverId> + use<> {
        (0..self.receivers.len() as u32).map(ReceiverId)
    }

    /// Returns the earliest time at which an application is to be woken.
    pub fn next_wake(&self) -> Instant {
        let senders = self.senders.iter().map(|slot| slot.wake);
        senders.chain(self.receivers.iter().map(|slot| slot.wake)).min().unwrap_or(Instant::NEVER)
    }

    /// Attaches a receiver to a connection, if it has none. Returns whether it was attached.
    pub fn attach(&mut self, id: ReceiverId, connection: ConnectionId, generation: u32) -> bool {
        let slot = &mut self.receivers[id.0 as usize];
        let is_free = slot.connection.is_none();
        // A flow may open more connections; the receiver reads the first one.
        slot.connection = slot.connection.or(Some((connection, generation)));
        is_free
    }

    /// Returns the connection of a receiver and its generation.
    pub fn connection_of(&self, id: ReceiverId) -> Option<(ConnectionId, u32)> {
        self.receivers[id.0 as usize].connection
    }

    /// Sets the time at which a receiver is to be woken. Returns whether that is another time than before.
    pub fn set_receiver_wake(&mut self, id: ReceiverId, at: Instant) -> bool {
        core::mem::replace(&mut self.receivers[id.0 as usize].wake, at) != at
    }

    /// Removes and returns the next request that the opener has received completely.
    pub fn pop_request(&mut self, id: ReceiverId, received: u64) -> Option<Request> {
        let requests = &mut self.receivers[id.0 as usize].requests;
        requests.pop_front_if(|(end, _)| *end <= received).map(|(_, request)| request)
    }
}

fn take_due(wake: &mut Instant, now: Instant) -> Option<Instant> {
    (*wake <= now).then(|| core::mem::replace(wake, Instant::NEVER))
}

/// A backend that hosts applications: it moves bytes and keeps time.
pub trait AppHost {
    /// Returns the applications.
    fn apps(&self) -> &AppTable;
    /// Returns the applications to change them.
    fn apps_mut(&mut self) -> &mut AppTable;
    /// Returns the time.
    fn now(&self) -> Instant;
    /// Returns the largest payload of a flow's segments in bytes.
    fn mss(&self, flow: FlowId) -> u64;
    /// Opens a connection for a sender.
    fn open(&mut self, sender: SenderId, path: PathId) -> ConnectionId;
    /// Writes bytes at the opener.
    fn write(&mut self, connection: ConnectionId, bytes: u64);
    /// Writes a unit at the opener. Its delay counts from `created`.
    fn write_unit(&mut self, flow: FlowId, connection: ConnectionId, bytes: u64, created: Instant);
    /// Returns whether written bytes wait for room in the send buffer.
    fn is_blocked(&self, connection: ConnectionId) -> bool;
    /// The same for a unit that may be abandoned.
    fn write_abandonable_unit(&mut self, flow: FlowId, connection: ConnectionId, bytes: u64, created: Instant) {
        self.write_unit(flow, connection, bytes, created);
    }
    /// Abandons the unit that was written last at the opener; see [`SenderIo::abandon_unit`].
    fn abandon_unit(&mut self, _flow: FlowId, _connection: ConnectionId) {}
    /// Closes a connection.
    fn close(&mut self, connection: ConnectionId);
    /// Called after a sender has requested a wake-up. A host that polls [`AppTable::next_wake`] has nothing to do.
    fn schedule_sender(&mut self, _: SenderId, _at: Instant) {}
    /// The same for a time in seconds, which may be more exact than nanoseconds.
    fn schedule_sender_at_seconds(&mut self, id: SenderId, seconds: f64) {
        self.schedule_sender(id, from_seconds(seconds));
    }
    /// Called after a receiver has changed its wake-up.
    fn schedule_receiver(&mut self, _: ReceiverId, _at: Instant) {}
    /// Reads the next part for a receiver. With `may_skip`, the reader waits, and the transport may skip missing data.
    fn read_part(&mut self, receiver: ReceiverId, may_skip: bool) -> Option<Part>;
    /// Returns the part that would be read next with `may_skip`.
    fn peek_part(&self, receiver: ReceiverId) -> Option<Part>;
    /// Returns the bytes that the receiver's connection has received.
    fn received(&self, receiver: ReceiverId) -> u64;
    /// Returns the position in the stream up to which the receiver has read.
    fn position(&self, receiver: ReceiverId) -> u64 {
        self.received(receiver)
    }
    /// Sends a message from a receiver back to the opener; `number` counts the receiver's messages from 1.
    fn reply(&mut self, receiver: ReceiverId, bytes: u64, number: u64);
    /// Returns whether the receiver's connection still exists.
    fn is_connected(&self, receiver: ReceiverId) -> bool;
    /// Called when a receiver sends its opener a request. Returns whether openers read requests in this backend.
    fn enable_requests(&mut self, _: ReceiverId) -> bool {
        false
    }
    /// Reports an event of an encoder.
    fn on_encoding(&mut self, at: Instant, flow: FlowId, event: Encoding);
    /// Reports a transfer that is complete.
    fn on_transfer(&mut self, at: Instant, flow: FlowId, transfer: Transfer);
    /// Reports an event of a receiver application.
    fn on_playout(&mut self, flow: FlowId, event: Playout);
}

fn from_seconds(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

/// Calls a sender at time `now`. Returns the connection that it used last, which the host serves next.
pub fn with_sender<H: AppHost>(
    host: &mut H,
    id: SenderId,
    now: Instant,
    act: impl FnOnce(&mut dyn SenderApp, &mut dyn SenderIo),
) -> Option<ConnectionId> {
    // Taken out, because the callback borrows the whole host. `None` means a nested call of the same application.
    let mut app = host.apps_mut().senders[id.0 as usize].app.take()?;
    let mut io = SenderHandle { host, id, now, used: None };
    act(&mut *app, &mut io);
    let used = io.used;
    host.apps_mut().senders[id.0 as usize].app = Some(app);
    used
}

/// Calls a receiver. The caller serves its connection afterwards.
pub fn with_receiver<H: AppHost>(
    host: &mut H,
    id: ReceiverId,
    act: impl FnOnce(&mut dyn ReceiverApp, &mut dyn ReceiverIo),
) {
    let Some(mut app) = host.apps_mut().receivers[id.0 as usize].app.take() else { return };
    act(&mut *app, &mut ReceiverHandle { host, id });
    host.apps_mut().receivers[id.0 as usize].app = Some(app);
}

/// The view that a sender has of its host.
struct SenderHandle<'a, H> {
    host: &'a mut H,
    id: SenderId,
    /// The time at which the sender was due: in real time it may be called later, which must not shift its timetable.
    now: Instant,
    /// The connection that was opened, written to or closed last. Applications use one at a time.
    used: Option<ConnectionId>,
}

impl<H: AppHost> SenderHandle<'_, H> {
    fn flow(&self) -> FlowId {
        self.host.apps().flow_of_sender(self.id)
    }
}

impl<H: AppHost> SenderIo for SenderHandle<'_, H> {
    fn now(&self) -> Instant {
        self.now
    }

    fn open(&mut self, path: PathId) -> ConnectionId {
        let connection = self.host.open(self.id, path);
        self.used = Some(connection);
        connection
    }

    fn write(&mut self, connection: ConnectionId, bytes: u64) {
        self.used = Some(connection);
        self.host.write(connection, bytes);
    }

    fn write_unit_created(&mut self, connection: ConnectionId, bytes: u64, created: Instant) {
        self.used = Some(connection);
        self.host.write_unit(self.flow(), connection, bytes, created);
    }

    fn is_blocked(&self, connection: ConnectionId) -> bool {
        self.host.is_blocked(connection)
    }

    fn report(&mut self, event: Encoding) {
        self.host.on_encoding(self.now, self.flow(), event);
    }

    fn complete(&mut self, transfer: Transfer) {
        self.host.on_transfer(self.now, self.flow(), transfer);
    }

    fn write_abandonable_unit(&mut self, connection: ConnectionId, bytes: u64, created: Instant) {
        self.used = Some(connection);
        self.host.write_abandonable_unit(self.flow(), connection, bytes, created);
    }

    fn abandon_unit(&mut self, connection: ConnectionId) {
        self.host.abandon_unit(self.flow(), connection);
    }

    fn close(&mut self, connection: ConnectionId) {
        self.used = Some(connection);
        self.host.close(connection);
    }

    fn wake_at(&mut self, at: Instant) {
        self.host.apps_mut().senders[self.id.0 as usize].wake = at;
        self.host.schedule_sender(self.id, at);
    }

    fn wake_at_seconds(&mut self, seconds: f64) {
        self.host.apps_mut().senders[self.id.0 as usize].wake = from_seconds(seconds);
        self.host.schedule_sender_at_seconds(self.id, seconds);
    }

    fn mss(&self) -> u64 {
        self.host.mss(self.flow())
    }
}

/// The view that a receiver has of its host.
struct ReceiverHandle<'a, H> {
    host: &'a mut H,
    id: ReceiverId,
}

impl<H: AppHost> ReceiverHandle<'_, H> {
    fn slot_mut(&mut self) -> &mut ReceiverSlot {
        &mut self.host.apps_mut().receivers[self.id.0 as usize]
    }
}

impl<H: AppHost> ReceiverIo for ReceiverHandle<'_, H> {
    fn now(&self) -> Instant {
        self.host.now()
    }

    fn read_in_order(&mut self) -> Option<Part> {
        self.host.read_part(self.id, false)
    }

    fn read(&mut self) -> Option<Part> {
        self.host.read_part(self.id, true)
    }

    fn peek(&self) -> Option<Part> {
        self.host.peek_part(self.id)
    }

    fn write(&mut self, bytes: u64) {
        if self.host.is_connected(self.id) {
            self.slot_mut().messages += 1;
            let number = self.slot_mut().messages;
            self.host.reply(self.id, bytes, number);
        }
    }

    fn received(&self) -> u64 {
        self.host.received(self.id)
    }

    fn position(&self) -> u64 {
        self.host.position(self.id)
    }

    fn request(&mut self, bytes: u64, request: Request) {
        if self.host.is_connected(self.id) && self.host.enable_requests(self.id) {
            let slot = self.slot_mut();
            // Requests carry no content: the opener knows one by how many bytes it has received.
            slot.requested_bytes += bytes;
            slot.requests.push_back((slot.requested_bytes, request));
        }
        self.write(bytes);
    }

    fn wake_at(&mut self, at: Instant) {
        if self.host.apps_mut().set_receiver_wake(self.id, at) {
            self.host.schedule_receiver(self.id, at);
        }
    }

    fn report(&mut self, event: Playout) {
        let flow = self.slot_mut().flow;
        self.host.on_playout(flow, event);
    }
}
