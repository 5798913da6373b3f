//! The same transfer between two stacks, over links of the simulator.

use crate::seen::{Seen, seen};
use crate::{END, START, Transfer};
use earlybird_live::device::{Memory, MemoryPacket, Path};
use earlybird_live::{Clock, Event, Id, Limits, ManualClock, Settings, Stack};
use earlybird_sim::{Content, HeaderSize, Network, Packet, PacketNetwork, RouteId};
use earlybird_tcp::ListenConfig;
use earlybird_units::Instant;
use earlybird_wire::{Checksums, Segment, mark_congested, parse};
use std::net::{IpAddr, Ipv4Addr};

const ADDRESSES: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2))];
const PORT: u16 = 80;

/// One endpoint: its stack, the other end of its device, and the route of its packets.
struct Side {
    stack: Stack<Memory, ManualClock>,
    end: Memory,
    route: RouteId,
}

/// Two stacks, the network between them, and their clock.
struct Run {
    sides: [Side; 2],
    packet_network: PacketNetwork,
    clock: ManualClock,
    /// Every packet that was sent, with its sender; its index is the external identifier.
    sent_packets: Vec<(usize, MemoryPacket)>,
    sent: Vec<(Instant, usize, Segment)>,
}

/// The compared transfers are larger than real send buffers.
const LIMITS: Limits = Limits { connections: 2, send_buffer: 1 << 40, receive_buffer: 1 << 40, resets: 0 };

impl Run {
    fn new((network, there, back): (Network, RouteId, RouteId)) -> Self {
        let clock = ManualClock::default();
        clock.set(START);
        let side = |number: usize, route| {
            let (device, end) = Memory::pair(9000);
            let settings = Settings { limits: LIMITS, ..Settings::deterministic(1, &ADDRESSES[number..=number]) };
            Side { stack: Stack::new(device, clock.clone(), settings).unwrap(), end, route }
        };
        let sides = [side(0, there), side(1, back)];
        Self {
            sides,
            packet_network: PacketNetwork::new(network, ()),
            clock,
            sent_packets: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// Runs a stack until nothing is left to do at the current time.
    fn serve(&mut self, number: usize) {
        let now = self.clock.now();
        loop {
            let stack = &mut self.sides[number].stack;
            stack.receive().unwrap();
            while let Some((id, event)) = stack.poll_event() {
                on_event(stack, id, event);
            }
            let has_sent = stack.transmit().unwrap();
            self.collect(number, now);
            if !has_sent && self.sides[number].stack.deadline().is_none_or(|at| at > now) {
                break;
            }
        }
    }

    /// Passes the packets of a stack to the network.
    fn collect(&mut self, number: usize, now: Instant) {
        while let Some(raw) = self.sides[number].end.take() {
            let segment = parse(&raw.bytes, Checksums::Verify).unwrap().segment;
            self.sent.push((now, number, segment));
            let bytes = HeaderSize::Real.packet_bytes(&segment);
            let packet = Packet::external(self.sides[number].route, bytes, Content::Segment(segment));
            let place = if segment.takes_sequence_space() { 0 } else { Packet::PURE_ACK };
            let external_id = self.sent_packets.len() as u32;
            self.packet_network.send(now, Packet { external_id, number: place, ..packet });
            self.sent_packets.push((number, raw));
        }
    }

    /// Delivers packets that are due, one by one.
    fn deliver(&mut self, now: Instant) {
        while let Some((_, packet)) = self.packet_network.poll_arrival(now) {
            let (sender, mut raw) = self.sent_packets[packet.external_id as usize].clone();
            if packet.segment().is_some_and(|segment| segment.ecn == earlybird_wire::Ecn::Congested) {
                mark_congested(&mut raw.bytes);
            }
            let to = 1 - sender;
            self.sides[to].end.put(raw).unwrap();
            self.serve(to);
        }
    }
}

/// The sender closes when all data is acknowledged, the receiver when it gets the FIN.
fn on_event(stack: &mut Stack<Memory, ManualClock>, id: Id, event: Event) {
    let mut buffer = [0; 9000];
    match event {
        Event::Incoming(port) => assert_eq!(stack.accept(port), Some(id)),
        Event::Readable => while stack.read(id, &mut buffer).unwrap() > 0 {},
        Event::Drained | Event::PeerClosed => stack.shutdown(id).unwrap(),
        Event::Closed(_) => stack.close(id).unwrap(),
        _ => {}
    }
}

pub(crate) fn run(network: (Network, RouteId, RouteId), transfer: Transfer) -> Vec<Seen> {
    let mut run = Run::new(network);
    run.sides[1].stack.listen(PORT, &transfer.config, ListenConfig::default()).unwrap();
    let client = &mut run.sides[0].stack;
    let id = client.connect(&transfer.config, Path::to(ADDRESSES[1]), PORT).unwrap();
    let text = vec![7; transfer.bytes as usize];
    assert_eq!(client.write(id, &text), Ok(text.len()));
    run.serve(0);
    loop {
        let [one, other] = run.sides.each_mut().map(|side| side.stack.deadline());
        let next = [one, other, run.packet_network.poll_timeout()].into_iter().flatten().min();
        let Some(next) = next.filter(|at| *at < END) else { break };
        run.clock.set(next);
        run.deliver(next);
        run.serve(0);
        run.serve(1);
    }
    seen(run.sent)
}
