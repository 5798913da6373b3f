//! Our end.

use crate::{Application, Host};
use earlybird_tcp::{Assembler, Config, Connection, Cx, Event, Identity, ReceiveBuffer, RfcState, Ring};
use earlybird_units::{Instant, SeedTree};
use earlybird_wire::{Addresses, Checksums, HEADERS_MAX, SeqNum, Style, emit, parse};

pub(crate) struct Ours {
    connection: Connection,
    addresses: Addresses,
    application: Application,
    ring: Ring,
    assembler: Assembler,
    peer_closed: bool,
    is_closed: bool,
}

impl Ours {
    /// `addresses` are those of what it sends.
    pub(crate) fn new(config: &Config, addresses: Addresses, opens: bool, application: Application) -> Self {
        let (seeds, identity) = (SeedTree::new(1), Identity { origin: SeqNum(u32::MAX - 5000), timestamp_offset: 77 });
        let open = if opens { Connection::connect_as } else { Connection::listen_as };
        let capacity = config.window.max as usize * usize::from(config.segments.mss);
        let config = &config.with_receive_buffer(ReceiveBuffer::Fixed(capacity as u64));
        Self {
            connection: open(config, identity, seeds),
            addresses,
            application,
            ring: Ring::new(capacity),
            assembler: Assembler::new(capacity),
            peer_closed: false,
            is_closed: false,
        }
    }

    fn write(&mut self) {
        let taken = self.ring.append(&self.application.text[self.application.written..]);
        if taken > 0 {
            assert_eq!(self.connection.write(taken as u64), Ok(taken as u64));
            self.application.written += taken;
        }
        if !self.is_closed && self.application.closes(self.peer_closed) {
            self.is_closed = true;
            self.connection.shutdown();
        }
    }

    fn read(&mut self, now: Instant) {
        let mut buffer = [0; 4096];
        while self.application.reads(now)
            && let count @ 1.. = self.assembler.read(&mut buffer)
        {
            assert_eq!(self.connection.read(count as u64), count as u64);
            self.application.received.extend(&buffer[..count]);
        }
    }

    fn packets(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        while let Some(transmit) = self.connection.poll_transmit(&mut Cx { now, trace: &mut () }) {
            let payload = self.ring.slices(transmit.data).expect("it was written");
            let mut packet = vec![0; HEADERS_MAX + usize::from(transmit.segment.len)];
            let length = emit(&transmit.segment, &self.addresses, Style::default(), payload, &mut packet);
            packet.truncate(length.expect("it fits"));
            packets.push(packet);
        }
        packets
    }
}

impl Host for Ours {
    fn receive(&mut self, now: Instant, packet: Vec<u8>) {
        let parsed = parse(&packet, Checksums::Verify).expect("the network harms nothing");
        let taken = self.connection.on_segment(&mut Cx { now, trace: &mut () }, &parsed.segment);
        self.assembler.put(taken.stream, &packet[parsed.payload][taken.skip.into()..]);
        self.ring.forget_below(self.connection.acknowledged());
    }

    fn serve(&mut self, now: Instant) -> Vec<Vec<u8>> {
        if self.connection.poll_timeout().is_some_and(|deadline| deadline <= now) {
            self.connection.on_timeout(&mut Cx { now, trace: &mut () });
        }
        self.read(now);
        self.write();
        let packets = self.packets(now);
        while let Some(event) = self.connection.poll_event() {
            assert_ne!(event, Event::Reset);
            self.peer_closed |= event == Event::PeerClosed;
        }
        packets
    }

    fn next(&mut self, now: Instant) -> Option<Instant> {
        let reads = Some(self.application.reads_from).filter(|at| *at > now);
        // A close is due at once.
        let closes = (!self.is_closed && self.application.closes(self.peer_closed)).then_some(now);
        [self.connection.poll_timeout(), reads, closes].into_iter().flatten().min()
    }

    fn application(&self) -> &Application {
        &self.application
    }

    fn is_over(&mut self) -> bool {
        matches!(self.connection.state(), RfcState::Closed | RfcState::TimeWait)
    }
}
