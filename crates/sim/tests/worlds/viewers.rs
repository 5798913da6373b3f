//! Applications at the listener, over whatever carries the stream.

use crate::dumbbell::{BUDGET, DuplexLink, link, lossy, ns2, rfc, seconds};
use earlybird_conformance::{Area, conforms};
use earlybird_datagram as datagram;
use earlybird_sim::{
    Carrier, DatagramSettings, FlowId, FlowSettings, GroupId, HeaderSize, LinkSettings, Loss, LossRule, Observer,
    Packet, PacketEvent, QueueLimit, World,
};
use earlybird_tcp::Config;
use earlybird_traffic::{Deadline, Feedback, Media, PlaybackDelay, Playout, Rebuffer, StartRule, Timetable, Viewer};
use earlybird_units::{Duration, Instant, Rate, SeedTree};

/// The frames that were written, played and lost, and the feedback.
#[derive(Debug, Default)]
pub(crate) struct Show {
    pub(crate) written: Vec<Instant>,
    pub(crate) played: Vec<(u64, Instant)>,
    pub(crate) lost: Vec<u64>,
    pub(crate) late: u64,
    pub(crate) stalls: Vec<Duration>,
    pub(crate) startup_delay: Option<Duration>,
    pub(crate) heartbeats: u64,
    pub(crate) reports: u64,
    pub(crate) delivered: Vec<(u32, Instant)>,
    pub(crate) data_back: u64,
}

impl Observer for Show {
    const PACKETS: bool = true;

    fn on_packet(&mut self, _at: Instant, event: PacketEvent, packet: &Packet) {
        if event == PacketEvent::Sent && packet.is_data() && packet.to.is_opener() {
            self.data_back += 1;
        }
    }

    fn on_unit(&mut self, at: Instant, _flow: FlowId, _bytes: u64) {
        self.written.push(at);
    }

    fn on_unit_delivered(&mut self, at: Instant, _flow: FlowId, unit: u32) {
        self.delivered.push((unit, at));
    }

    fn on_playout(&mut self, at: Instant, _flow: FlowId, event: Playout) {
        match event {
            Playout::Played(unit) => self.played.push((unit, at)),
            Playout::Lost(unit) => self.lost.push(unit),
            Playout::Late(_) => self.late += 1,
            Playout::Started(delay) => self.startup_delay = Some(delay),
            Playout::Stalled | Playout::Delayed(_) | Playout::Requested(_) => {}
            Playout::Resumed(stall) => self.stalls.push(stall),
            Playout::Heartbeat(_) => self.heartbeats += 1,
            Playout::Report(_) => self.reports += 1,
        }
    }
}

pub(crate) const FRAMES: u64 = 1500;
const DELAY: Duration = Duration::from_millis(250);

/// The stream of the MTCP paper: 1500 frames of 100 bytes, one every 20 ms.
pub(crate) fn audio() -> Timetable {
    Timetable::constant(Rate::from_bits_per_second(40_000).expect("a rate"), 100).ending_after(Some(FRAMES))
}

pub(crate) fn deadline() -> Viewer {
    Deadline::new(audio(), PlaybackDelay::Fixed(DELAY)).into()
}

/// Round-trip time 100 ms and much room.
pub(crate) fn channel(rule: Option<LossRule>, seed: u64) -> LinkSettings {
    let loss = rule.map(|rule| Loss::new(rule, SeedTree::new(seed).child("loss").random()));
    lossy(link(10_000_000, 50, QueueLimit::Packets(50)), loss.into_iter().collect())
}

pub(crate) fn show(carrier: impl Into<Carrier>, forward: LinkSettings, viewer: Viewer, timetable: Timetable) -> Show {
    let show: Show = watch(carrier, DuplexLink::new(forward), Some(viewer), timetable);
    assert_eq!(show.played.len() + show.lost.len(), show.written.len(), "each is played or lost");
    show
}

/// Sends what the timetable says from the first second on.
pub(crate) fn watch<O: Observer + Default>(
    carrier: impl Into<Carrier>,
    duplex: DuplexLink,
    viewer: Option<Viewer>,
    timetable: Timetable,
) -> O {
    let mut world = World::new(duplex.network, O::default());
    let path = world.add_path(duplex.there, duplex.back);
    let settings = FlowSettings { group: GroupId(0), endpoints: carrier.into(), seeds: SeedTree::new(1) };
    let flow = world.add_flow(settings);
    if let Some(viewer) = viewer {
        world.add_receiver(flow, Box::new(viewer));
    }
    world.add_sender(flow, Box::new(Media::new(path, timetable)), seconds(1));
    assert!(world.run_until(seconds(100), BUDGET));
    world.finish();
    world.into_parts().1
}

fn sack() -> Carrier {
    ns2(Config::ns2().with_max_window(20).with_mss(100)).into()
}

fn udp() -> Carrier {
    datagrams(datagram::Control::Udp)
}

fn datagrams(control: datagram::Control) -> Carrier {
    let config = datagram::Config { control, mss: 1000, ecn: false };
    Carrier::Datagrams(DatagramSettings { config, headers: HeaderSize::Ns2 })
}

fn srt() -> Carrier {
    datagrams(datagram::Control::Srt(datagram::srt::Parameters::DEFAULT))
}

#[test]
fn every_unit_is_played_so_long_after_it_was_written() {
    for carrier in [sack(), udp(), srt(), datagrams(datagram::Control::Tfrc), rfc(Config::rfc()).into()] {
        let show = show(carrier, channel(None, 1), deadline(), audio());
        assert_eq!((show.written.len() as u64, show.lost.len()), (FRAMES, 0));
        for ((unit, at), (number, written)) in show.played.iter().zip((0..).zip(&show.written)) {
            assert_eq!((*unit, *at), (number, *written + DELAY));
        }
    }
}

#[test]
fn over_udp_exactly_the_dropped_frames_are_lost() {
    let drops: Vec<u64> = vec![3, 77, 78, 500, 1499];
    let show = show(udp(), channel(Some(LossRule::List(drops.clone())), 1), deadline(), audio());
    assert_eq!((show.lost, show.late), (drops, 0));
}

#[test]
fn over_srt_dropped_frames_are_retransmitted_and_all_frames_arrive_with_its_latency() {
    // A frame is asked for when the next one comes, and comes again 20 ms + RTT later: the default of 120 ms just allows it.
    let with = |delay| {
        let player = Deadline::new(audio(), PlaybackDelay::Fixed(Duration::from_millis(delay)));
        let show = show(srt(), channel(Some(LossRule::List(vec![400, 700])), 1), player.into(), audio());
        (show.lost.len() as u64, show.late)
    };
    assert_eq!([with(180), with(160)], [(0, 0), (FRAMES, FRAMES)], "released 50 + 120 ms after they were written");
}

#[test]
fn over_sack_a_single_drop_costs_no_frame() {
    // RTT 100 ms and period 20 ms need 210 ms, and 250 are there.
    let show = show(sack(), channel(Some(LossRule::List(vec![400])), 1), deadline(), audio());
    assert!(show.lost.is_empty(), "{:?}", show.lost);
}

#[test]
fn late_frames_of_plain_sack_are_those_of_ns_2() {
    // Drop rate in percent, and mean late frames of 30 runs of ns-2.35: `frames.tcl` with Sack1.
    let golden = [(0.0, 0.0), (0.5, 0.47), (1.0, 17.17), (2.0, 184.03), (3.0, 643.47), (4.0, 1093.63), (5.0, 1329.6)];
    for (percent, expected) in golden {
        let lost = |seed| {
            let rule = LossRule::Bernoulli(percent / 100.0);
            show(sack(), channel(Some(rule), seed), deadline(), audio()).lost.len() as f64
        };
        let counts: Vec<f64> = (0..30).map(lost).collect();
        let mean = counts.iter().sum::<f64>() / 30.0;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 29.0;
        // Both are means of 30 runs.
        let error = (variance * 2.0 / 30.0).sqrt();
        assert!((mean - expected).abs() <= 3.0 * error, "{percent} %: {mean} instead of {expected}");
    }
    conforms(
        Area::Traffic,
        "deadline viewer over SACK",
        "ns-2.35 Sack1 (MTCP paper's stream)",
        "frames late of 1500 at drop rates 0 to 5 % and a playback delay of 250 ms, mean of 30 seeds",
        "7 of 7 within 3 standard errors",
    );
}

#[test]
fn a_rebuffering_player_over_sack_stalls_while_a_loss_is_repaired_and_loses_nothing() {
    let stalls = |drops| {
        let player = Rebuffer::new(audio(), StartRule::Units(1), 1).into();
        let show = show(sack(), channel(Some(LossRule::List(drops)), 1), player, audio());
        // A round trip for the handshake, and half a one for the first frame.
        assert!(
            show.startup_delay
                .is_some_and(|delay| delay.abs_diff(Duration::from_millis(150)) < Duration::from_millis(1))
        );
        assert_eq!((show.played.len() as u64, show.lost.len()), (FRAMES, 0));
        show.stalls
    };
    // The window opens too slowly for the first frames; then frames come in time for ever, and a single loss does no harm.
    let without = stalls(vec![]);
    let waited = without.iter().fold(Duration::from_millis(150), |sum, stall| sum + *stall);
    assert!(waited > Duration::from_millis(210), "{waited}");
    assert_eq!(stalls(vec![400]), without);
    // Of three lost in a row, the first comes back 60 ms + 1.5 RTT after the third was written.
    let with = stalls(vec![400, 401, 402]);
    let repaired = Duration::from_millis(20 + 20 + 60 + 150);
    assert_eq!(with[..without.len()], without);
    assert!((waited + with[without.len()]).abs_diff(repaired) < Duration::from_millis(2), "{with:?}");
}

#[test]
fn messages_go_back_and_count_as_nobody_s_media() {
    let feedback = Feedback { heartbeat: Some(Duration::from_millis(60)), report: Some(Duration::from_secs(1)) };
    for carrier in [sack(), udp(), rfc(Config::rfc()).into()] {
        let is_tcp = matches!(carrier, Carrier::Tcp(_));
        let viewer = deadline().with_feedback(feedback);
        let show = show(carrier, channel(None, 1), viewer, audio());
        assert_eq!((show.reports, show.lost.len()), (30, 0));
        // After the last frame came, 200 ms are left until it is played; a window that opens slowly leaves more gaps.
        assert!(show.heartbeats == 3 || is_tcp && show.heartbeats > 3, "{}", show.heartbeats);
        let delivered: Vec<u32> = show.delivered.iter().map(|(unit, _)| *unit).collect();
        assert!(delivered.is_empty() || delivered == (0..FRAMES as u32).collect::<Vec<_>>());
        // In a stream two messages may share a segment, and the answer to the SYN counts as well.
        let messages = show.reports + show.heartbeats;
        assert!(show.data_back == messages || is_tcp && (31..=messages + 1).contains(&show.data_back));
    }
}
