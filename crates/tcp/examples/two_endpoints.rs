//! Two endpoints in memory exchange a text, packet by packet, while every seventh packet gets lost.

use earlybird_tcp::{Assembler, Config, Connection, Cx, Event, Identity, ReceiveBuffer, Ring};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Addresses, Checksums, SeqNum, Style, emit, parse};
use std::collections::VecDeque;
use std::error::Error;

/// The capacity of each side's buffer for either direction. The assembler must hold all that the connection takes.
const BUFFER: usize = 1 << 16;

/// The state that a driver keeps for a connection, whatever carries its packets.
struct Endpoint {
    connection: Connection,
    addresses: Addresses,
    /// Data that was written and may have to be retransmitted.
    ring: Ring,
    /// Data that arrived and was not read.
    assembler: Assembler,
    received: Vec<u8>,
}

impl Endpoint {
    fn new(connection: Connection, addresses: Addresses) -> Self {
        let (ring, assembler) = (Ring::new(BUFFER), Assembler::new(BUFFER));
        Self { connection, addresses, ring, assembler, received: Vec::new() }
    }

    /// Writes what there is room for.
    fn write(&mut self, text: &[u8]) -> Result<usize, Box<dyn Error>> {
        let taken = self.ring.append(text);
        self.connection.write(taken as u64)?;
        Ok(taken)
    }

    /// Takes a packet from the network.
    fn receive(&mut self, now: Instant, packet: &[u8]) -> Result<(), Box<dyn Error>> {
        let parsed = parse(packet, Checksums::Verify)?;
        let taken = self.connection.on_segment(&mut Cx { now, trace: &mut () }, &parsed.segment);
        // The payload's part that is new goes to its place in the stream.
        let payload = &packet[parsed.payload][taken.skip.into()..];
        self.assembler.put(taken.stream, payload);
        self.ring.forget_below(self.connection.acknowledged());
        self.read();
        Ok(())
    }

    /// Reads all that is there in order.
    fn read(&mut self) {
        let mut buffer = [0; 4096];
        while let count @ 1.. = self.assembler.read(&mut buffer) {
            self.connection.read(count as u64);
            self.received.extend(&buffer[..count]);
        }
    }

    /// Returns the packets that are to be sent now.
    fn send(&mut self, now: Instant) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
        let mut packets = Vec::new();
        while let Some(transmit) = self.connection.poll_transmit(&mut Cx { now, trace: &mut () }) {
            let payload = self.ring.slices(transmit.data).ok_or("the connection sends what was not written")?;
            let mut packet = vec![0; 1500];
            let length = emit(&transmit.segment, &self.addresses, Style::default(), payload, &mut packet)?;
            packet.truncate(length);
            packets.push(packet);
        }
        while let Some(event) = self.connection.poll_event() {
            if event == Event::PeerClosed {
                self.connection.shutdown();
            }
        }
        Ok(packets)
    }
}

fn endpoints() -> [Endpoint; 2] {
    let client = Addresses {
        source: [192, 0, 2, 1].into(),
        destination: [192, 0, 2, 2].into(),
        source_port: 49_152,
        destination_port: 80,
    };
    // An MTU of 1500 less the headers of IPv4 and of TCP, timestamps included.
    let config = Config::rfc().with_mss(1448).with_receive_buffer(ReceiveBuffer::Fixed(BUFFER as u64));
    // A driver on a real network draws these from a secret, so that strangers cannot guess them (RFC 6528).
    let [first, second] = [7_u32, 8].map(|origin| Identity { origin: SeqNum(origin << 20), timestamp_offset: origin });
    let seeds = SeedTree::new(1);
    [
        Endpoint::new(Connection::connect_as(&config, first, seeds), client),
        Endpoint::new(Connection::listen_as(&config, second, seeds), client.reversed()),
    ]
}

/// Sends `text` from the one to the other, and gives what arrives, when, and how many packets it took.
fn transfer(text: &[u8]) -> Result<(Vec<u8>, Instant, usize), Box<dyn Error>> {
    let mut ends = endpoints();
    let (mut now, mut written, mut sent) = (Instant::ZERO, 0, 0);
    // Ten milliseconds each way: when a packet arrives, at which end, and the packet.
    let mut wire: VecDeque<(Instant, usize, Vec<u8>)> = VecDeque::new();
    loop {
        if written < text.len() {
            written += ends[0].write(&text[written..])?;
            if written == text.len() {
                ends[0].connection.shutdown();
            }
        }
        for (number, end) in ends.iter_mut().enumerate() {
            for packet in end.send(now)? {
                sent += 1;
                if sent % 7 != 0 {
                    wire.push_back((now + Duration::from_millis(10), 1 - number, packet));
                }
            }
        }
        let arrival = wire.front().map(|(at, ..)| *at);
        let timers = ends.each_ref().map(|end| end.connection.poll_timeout());
        let Some(next) = [arrival, timers[0], timers[1]].into_iter().flatten().min() else {
            return Ok((std::mem::take(&mut ends[1].received), now, sent));
        };
        now = next;
        while let Some((_, end, packet)) = wire.pop_front_if(|(at, ..)| *at <= now) {
            ends[end].receive(now, &packet)?;
        }
        for end in &mut ends {
            if end.connection.poll_timeout().is_some_and(|deadline| deadline <= now) {
                end.connection.on_timeout(&mut Cx { now, trace: &mut () });
            }
        }
    }
}

/// Runs it, and says what happened.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let text = "The early bird catches the worm. ".repeat(10_000);
    let (received, end, packets) = transfer(text.as_bytes())?;
    assert_eq!(received, text.as_bytes());
    eprintln!("{} bytes in {packets} packets; all over after {:.1} s", received.len(), end.as_secs_f64());
    Ok(())
}
