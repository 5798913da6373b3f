//! The same transfer between two stacks, whose packets the simulator's links carry.

use crate::seen::{Seen, seen};
use crate::{END, START, Transfer};
use earlybird_live::device::{Memory, Parcel, Path};
use earlybird_live::{Clock, Event, Id, Limits, Scripted, Settings, Stack};
use earlybird_sim::{Content, HeaderSize, Network, Packet, PacketNetwork, RouteId};
use earlybird_tcp::ListenConfig;
use earlybird_units::Instant;
use earlybird_wire::{Checksums, Segment, mark_congested, parse};
use std::net::{IpAddr, Ipv4Addr};

const ADDRESSES: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2))];
const PORT: u16 = 80;

/// One side: its stack, the network's end of its device, and the route of what it sends.
struct Side {
    stack: Stack<Memory, Scripted>,
    end: Memory,
    route: RouteId,
}

/// All there is.
struct Run {
    sides: [Side; 2],
    packet_network: PacketNetwork,
    clock: Scripted,
    /// Every packet that was sent, and by whom; its place is its external_id.
    parcels: Vec<(usize, Parcel)>,
    sent: Vec<(Instant, usize, Segment)>,
}

/// Uploads larger than any real buffer are no part of what is compared.
const LIMITS: Limits = Limits { connections: 2, send_buffer: 1 << 40, receive_buffer: 1 << 40, resets: 0 };

impl Run {
    fn new((network, there, back): (Network, RouteId, RouteId)) -> Self {
        let clock = Scripted::default();
        clock.set(START);
        let side = |number: usize, route| {
            let (device, end) = Memory::pair(9000);
            let settings = Settings { limits: LIMITS, ..Settings::scripted(1, &ADDRESSES[number..=number]) };
            Side { stack: Stack::new(device, clock.clone(), settings).unwrap(), end, route }
        };
        let sides = [side(0, there), side(1, back)];
        Self { sides, packet_network: PacketNetwork::new(network, ()), clock, parcels: Vec::new(), sent: Vec::new() }
    }

    /// Lets a side do all that it has to now.
    fn serve(&mut self, number: usize) {
        let now = self.clock.now();
        loop {
            let stack = &mut self.sides[number].stack;
            stack.receive().unwrap();
            while let Some((id, event)) = stack.poll_event() {
                act(stack, id, event);
            }
            let has_sent = stack.transmit().unwrap();
            self.collect(number, now);
            if !has_sent && self.sides[number].stack.deadline().is_none_or(|at| at > now) {
                break;
            }
        }
    }

    /// Hands what a side sent to the packet_network.
    fn collect(&mut self, number: usize, now: Instant) {
        while let Some(parcel) = self.sides[number].end.take() {
            let segment = parse(&parcel.bytes, Checksums::Verify).unwrap().segment;
            self.sent.push((now, number, segment));
            let bytes = HeaderSize::Real.packet_bytes(&segment);
            let packet = Packet::external(self.sides[number].route, bytes, Content::Segment(segment));
            let place = if segment.takes_sequence_space() { 0 } else { Packet::PURE_ACK };
            let external_id = self.parcels.len() as u32;
            self.packet_network.send(now, Packet { external_id, number: place, ..packet });
            self.parcels.push((number, parcel));
        }
    }

    /// Delivers what has arrived by now, one packet after the other.
    fn deliver(&mut self, now: Instant) {
        while let Some((_, packet)) = self.packet_network.poll_arrival(now) {
            let (sender, mut parcel) = self.parcels[packet.external_id as usize].clone();
            if packet.segment().is_some_and(|segment| segment.ecn == earlybird_wire::Ecn::Congested) {
                mark_congested(&mut parcel.bytes);
            }
            let to = 1 - sender;
            self.sides[to].end.put(parcel).unwrap();
            self.serve(to);
        }
    }
}

/// The sender closes when everything has arrived, the receiver when the sender has.
fn act(stack: &mut Stack<Memory, Scripted>, id: Id, event: Event) {
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
