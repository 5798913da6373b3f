//! One end of a connection.

use crate::inbox::Inbox;
use crate::outbox::Outbox;
use crate::probe_timeouts::ProbeTimeouts;
use crate::{Carriage, Quinn, clock, log, settings};
use earlybird_sim::{ExternalConnection, ExternalDatagram, ExternalEvent, ExternalState};
use earlybird_tcp::Statistics;
use earlybird_units::{Instant, SeedTree};
use earlybird_wire::Ecn;
use quinn_proto::{Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint, Event, Transmit};
use std::collections::VecDeque;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

/// The address of the peer for both ends: the simulator does not route by it. RFC 5737's first network for documentation.
const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 443);

/// Quinn's endpoint with its one connection, and the application above it.
pub(crate) struct Peer {
    carriage: Carriage,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    outbox: Outbox,
    inbox: Inbox,
    probe_timeouts: ProbeTimeouts,
    /// Datagrams to send before polling the connection.
    ready: VecDeque<ExternalDatagram>,
    /// Packets with something of the application.
    data_packets: u64,
    now: Instant,
}

impl fmt::Debug for Peer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { outbox, inbox, probe_timeouts, .. } = self;
        formatter
            .debug_struct("Peer")
            .field("out", outbox)
            .field("in", inbox)
            .field("silence", probe_timeouts)
            .finish_non_exhaustive()
    }
}

impl Peer {
    /// Opens a connection.
    pub(crate) fn connect(now: Instant, stack: Quinn, seeds: SeedTree) -> Self {
        // A client accepts no connections.
        let mut endpoint = settings::endpoint(seeds, None);
        let config = settings::client(stack, seeds);
        let connection = endpoint.connect(clock::outside(now), config, PEER, "simulated");
        let connection = connection.expect("neither version nor address is one that quinn refuses");
        Self { connection: Some(connection), ..Self::new(stack, endpoint) }
    }

    /// Waits for one.
    pub(crate) fn listen(stack: Quinn, seeds: SeedTree) -> Self {
        Self::new(stack, settings::endpoint(seeds, Some(settings::server(stack))))
    }

    fn new(stack: Quinn, endpoint: Endpoint) -> Self {
        let Quinn { carriage, .. } = stack;
        Self {
            carriage,
            endpoint,
            connection: None,
            outbox: Outbox::new(carriage),
            inbox: Inbox::new(carriage),
            probe_timeouts: ProbeTimeouts::default(),
            ready: VecDeque::new(),
            data_packets: 0,
            now: Instant::ZERO,
        }
    }

    /// Exchanges events between quinn's connection and endpoint, then reads and writes for the application.
    fn settle(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        loop {
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(answer);
                }
            }
            match connection.poll() {
                Some(Event::Stream(event)) => self.inbox.on_stream(connection, &event),
                Some(Event::DatagramReceived) => self.inbox.read_datagrams(connection),
                Some(_) => {}
                None => break,
            }
        }
        if !connection.is_handshaking() {
            self.outbox.hand_over(connection);
        }
    }

    fn answer(&mut self, transmit: &Transmit, mut payload: Vec<u8>) {
        payload.truncate(transmit.size);
        self.ready.push_back(ExternalDatagram { payload, ecn: Ecn::NotCapable, is_data: false });
    }

    /// Returns the connection's next datagram.
    fn transmit(&mut self, now: Instant) -> Option<ExternalDatagram> {
        let (_, connection) = self.connection.as_mut()?;
        let (mut payload, before) = (Vec::new(), connection.stats().frame_tx);
        let transmit = connection.poll_transmit(clock::outside(now), 1, &mut payload)?;
        payload.truncate(transmit.size);
        let sent = connection.stats().frame_tx;
        self.probe_timeouts.on_sent(now, &sent);
        let is_data = sent.stream + sent.datagram > before.stream + before.datagram;
        self.data_packets += u64::from(is_data);
        let ecn = transmit.ecn.map_or(Ecn::NotCapable, |ecn| Ecn::from_bits(ecn as u8));
        Some(ExternalDatagram { payload, ecn, is_data })
    }
}

impl ExternalConnection for Peer {
    fn on_datagram(&mut self, now: Instant, ecn: Ecn, payload: Vec<u8>) {
        self.now = now;
        self.probe_timeouts.on_datagram(now);
        let (at, mut answer) = (clock::outside(now), Vec::new());
        let ecn = EcnCodepoint::from_bits(ecn as u8);
        match self.endpoint.handle(at, PEER, None, ecn, payload.as_slice().into(), &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                self.connection = self.endpoint.accept(incoming, at, &mut answer, None).ok();
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(transmit)) => self.answer(&transmit, answer),
            None => {}
        }
        self.settle();
    }

    fn on_timeout(&mut self, now: Instant) {
        self.now = now;
        let Some((_, connection)) = &mut self.connection else { return };
        let probes = log::probes_of(|| connection.handle_timeout(clock::outside(now)));
        for _ in 0..probes {
            let timeout = self.probe_timeouts.on_timeout(now);
            self.inbox.events.push_back(timeout);
        }
        self.settle();
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        let (_, connection) = self.connection.as_mut()?;
        // A round trip that proves shorter than it was thought puts timers into the past.
        connection.poll_timeout().map(|at| clock::inside(at).max(self.now))
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<ExternalDatagram> {
        self.now = now;
        self.ready.pop_front().or_else(|| self.transmit(now))
    }

    fn poll_event(&mut self) -> Option<ExternalEvent> {
        self.inbox.events.pop_front()
    }

    fn write(&mut self, bytes: u64) {
        self.outbox.write(bytes);
        self.settle();
    }

    fn write_unit(&mut self, bytes: u64) {
        self.outbox.write_unit(bytes);
        self.settle();
    }

    fn received(&self) -> u64 {
        self.inbox.received
    }

    fn in_order(&self) -> u64 {
        if self.carriage == Carriage::Stream { self.inbox.received } else { 0 }
    }

    fn state(&self) -> ExternalState {
        let Some((_, connection)) = &self.connection else { return ExternalState::default() };
        let stats = connection.stats();
        // Before, quinn gives what it assumes.
        let (path, is_measured) = (stats.path, stats.frame_rx.acks > 0);
        let repairs = if self.carriage == Carriage::Datagrams { 0 } else { path.lost_packets };
        ExternalState {
            statistics: Statistics {
                segments_sent: self.data_packets,
                retransmissions: repairs,
                timeouts: self.probe_timeouts.timeouts,
                frozen: self.probe_timeouts.frozen,
                frozen_timers: self.probe_timeouts.frozen_timers,
                ..Statistics::default()
            },
            cwnd: path.cwnd as f64 / f64::from(path.current_mtu.max(1)),
            srtt: is_measured.then(|| clock::span(path.rtt)),
            min_rtt: is_measured.then(|| clock::span(path.min_rtt)),
        }
    }
}
