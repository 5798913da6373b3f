//! One flow over a link that loses what it is told to lose, and what an observer sees of it.

use earlybird_quic::{Carriage, Control, LARGEST_PAYLOAD, stack};
use earlybird_sim::{
    Carrier, ExternalSettings, FlowEnd, FlowGauges, FlowId, FlowSettings, GroupId, LinkSettings, Loss, LossRule,
    Network, Observer, Packet, PacketEvent, QueueLimit, World,
};
use earlybird_tcp::TraceEvent;
use earlybird_traffic::{Media, PathId, SenderApp, Timetable};
use earlybird_units::{Duration, Instant, Rate, SeedTree};

/// Packets and events that an observer got.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    written: Vec<Instant>,
    /// Bytes up to the end of each unit.
    ends: Vec<u64>,
    pub(crate) delivered: Vec<(u32, Instant)>,
    pub(crate) timeouts: Vec<(Instant, Duration, Duration)>,
    /// Time and size of every packet that the sender sent, and whether there was data in it.
    pub(crate) packets: Vec<(Instant, u32, bool)>,
    /// The same of the receiver.
    pub(crate) back: Vec<(Instant, u32, bool)>,
    /// The sender's congestion window every 10 ms, in packets of the size that it has found.
    pub(crate) windows: Vec<f64>,
    pub(crate) srtt: Option<Duration>,
    pub(crate) end: FlowEnd,
}

impl Observer for Seen {
    const PACKETS: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        if event == PacketEvent::Sent {
            let direction = if packet.to.is_opener() { &mut self.back } else { &mut self.packets };
            direction.push((at, packet.bytes, packet.is_data()));
        }
    }

    fn on_trace(&mut self, at: Instant, _flow: FlowId, event: TraceEvent) {
        if let TraceEvent::Timeout { timer, frozen_for } = event {
            self.timeouts.push((at, timer, frozen_for));
        }
    }

    fn on_unit(&mut self, at: Instant, _flow: FlowId, bytes: u64) {
        self.written.push(at);
        self.ends.push(self.ends.last().unwrap_or(&0) + bytes);
    }

    fn on_delivered(&mut self, at: Instant, _flow: FlowId, bytes: u64) {
        while self.ends.get(self.delivered.len()).is_some_and(|end| *end <= bytes) {
            self.delivered.push((self.delivered.len() as u32, at));
        }
    }

    fn on_unit_delivered(&mut self, at: Instant, _flow: FlowId, unit: u32) {
        self.delivered.push((unit, at));
    }

    fn on_probe(&mut self, _at: Instant, _flow: FlowId, gauges: &FlowGauges) {
        self.windows.extend(gauges.cwnd);
        self.srtt = gauges.srtt;
    }

    fn on_end(&mut self, _flow: FlowId, end: &FlowEnd) {
        self.end = *end;
    }
}

impl Seen {
    /// Returns how long each unit took in milliseconds, in the order of writing; infinite if it did not come.
    pub(crate) fn delays(&self) -> Vec<f64> {
        let mut delays = vec![f64::INFINITY; self.written.len()];
        for (unit, at) in &self.delivered {
            delays[*unit as usize] = (*at - self.written[*unit as usize]).as_secs_f64() * 1e3;
        }
        delays
    }

    /// Returns the lengths of the timers that expired, in milliseconds.
    pub(crate) fn timers(&self) -> Vec<f64> {
        self.timeouts.iter().map(|(_, timer, _)| timer.as_secs_f64() * 1e3).collect()
    }

    /// Returns the smallest window that the sender had, in packets.
    pub(crate) fn smallest_window(&self) -> f64 {
        self.windows.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Returns the number of the packet that carries a unit, among all of its way.
    pub(crate) fn packet_of(&self, unit: usize) -> u64 {
        let carries = |(at, _, is_data): &(Instant, u32, bool)| *is_data && *at >= self.written[unit];
        self.packets.iter().position(carries).expect("a packet") as u64
    }

    /// Returns those of them that took longer than a packet takes which is not lost, of units written when the connection stood.
    pub(crate) fn late(&self) -> Vec<(usize, f64)> {
        self.delays().into_iter().enumerate().skip(FIRST).filter(|(_, delay)| *delay > DELAY + 1.0).collect()
    }
}

/// One way, in milliseconds.
pub(crate) const DELAY: f64 = 50.0;
/// Units of which the connection certainly stood when they were written.
pub(crate) const FIRST: usize = 100;
/// So few that no window is ever full, even after a loss.
pub(crate) const BYTES: u64 = 100;

/// Loses the packets with these numbers, counted from the first of a connection.
pub(crate) fn losing(drops: &[u64]) -> Loss {
    Loss::new(LossRule::List(drops.to_vec()), SeedTree::new(1).random())
}

pub(crate) fn link(rate: u64, limit: QueueLimit, losses: Vec<Loss>) -> LinkSettings {
    let rate = Rate::from_bits_per_second(rate).expect("a rate");
    let plain = LinkSettings::plain("", rate, SeedTree::new(1));
    LinkSettings { delay: Duration::from_millis(DELAY as u64), limit, losses, ..plain }
}

/// Runs one flow for so many seconds.
pub(crate) fn run(
    carriage: Carriage,
    control: Control,
    forward: LinkSettings,
    seconds: u64,
    application: impl FnOnce(PathId) -> Box<dyn SenderApp>,
) -> Seen {
    let mut network = Network::default();
    let [left, right] = [network.add_node(), network.add_node()];
    let backward = LinkSettings { losses: Vec::new(), limit: QueueLimit::Unlimited, ..forward.clone() };
    network.add_link(left, right, forward);
    network.add_link(right, left, backward);
    let [there, back] = [(left, right), (right, left)].map(|(from, to)| network.add_route(from, to).expect("a route"));
    let mut world = World::new(network, Seen::default());
    let path = world.add_path(there, back);
    let endpoints = ExternalSettings { stack: stack(carriage, control), mss: LARGEST_PAYLOAD, ecn: false };
    let settings = FlowSettings { group: GroupId(0), endpoints: Carrier::External(endpoints), seeds: SeedTree::new(1) };
    let flow = world.add_flow(settings);
    world.probe_every(Duration::from_millis(10));
    world.add_sender(flow, application(path), Instant::ZERO);
    assert!(world.run_until(Instant::ZERO + Duration::from_secs(seconds), 1 << 40));
    world.finish();
    world.into_parts().1
}

/// Sends 500 units, one per so many milliseconds, over 100 Mb/s, where the packets with these numbers are lost.
pub(crate) fn units(carriage: Carriage, period: u64, drops: &[u64]) -> Seen {
    let rate = Rate::from_bits_per_second(BYTES * 8 * 1000 / period).expect("a rate");
    let timetable = Timetable::constant(rate, BYTES).ending_after(Some(500));
    let forward = link(100_000_000, QueueLimit::Unlimited, vec![losing(drops)]);
    run(carriage, Control::Cubic, forward, 60, |path| Box::new(Media::new(path, timetable)))
}

/// The same, where the packet of a unit is lost, and so many in all from there on.
pub(crate) fn units_without(carriage: Carriage, period: u64, unit: usize, packets: u64) -> Seen {
    let first = units(carriage, period, &[]).packet_of(unit);
    units(carriage, period, &(first..first + packets).collect::<Vec<_>>())
}

pub(crate) fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} beside {expected}");
}
