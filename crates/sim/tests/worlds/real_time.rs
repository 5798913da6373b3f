//! The real-time mode from writer to viewer.

use crate::dumbbell::{DuplexLink, link, lossy, ns2};
use crate::viewers::{FRAMES, Show, audio, channel, deadline, show, watch};
use earlybird_conformance::{Area, conforms};
use earlybird_sim::{Carrier, FlowId, LinkId, LinkSettings, Loss, LossRule, Observer, Packet, PacketEvent, QueueLimit};
use earlybird_tcp::{Backlog, Config, Connection, Delivery, RealTime, RealTimeStatistics, SendBufferLimit};
use earlybird_traffic::{
    Deadline, Feedback, PlaybackDelay, Rebuffer, StartRule, Timetable, Viewer, minimum_playback_delay,
};
use earlybird_units::{Duration, Instant, SeedTree};

/// The mode of the MTCP paper, over ns-2's SACK.
fn mtcp() -> Config {
    let real_time = RealTime {
        delivery: Delivery::SkipWhenWaiting,
        backlog: Backlog::AbandonOldest(SendBufferLimit::Segments(13)),
        framing: true,
        skip_notice: true,
        ..RealTime::default()
    };
    Config::ns2().with_max_window(20).with_mss(100).with_real_time(real_time)
}

fn carrier(config: Config) -> Carrier {
    ns2(config).into()
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn viewer(delay: Duration) -> Viewer {
    Deadline::new(audio(), PlaybackDelay::Fixed(delay)).into()
}

/// So many milliseconds one way, and the packets with these numbers are lost.
fn dropping(delay: u64, drops: Vec<u64>) -> LinkSettings {
    let loss = Loss::new(LossRule::List(drops), SeedTree::new(1).random());
    lossy(link(10_000_000, delay, QueueLimit::Packets(50)), vec![loss])
}

fn random_losses(probability: f64, seed: u64) -> LinkSettings {
    channel(Some(LossRule::Bernoulli(probability)), seed)
}

#[test]
fn without_losses_every_frame_is_played() {
    let show = show(carrier(mtcp()), channel(None, 1), deadline(), audio());
    assert_eq!((show.played.len() as u64, show.delivered.len() as u64), (FRAMES, FRAMES));
    // All were read when they came, and kept for their time.
    assert!(
        show.delivered
            .iter()
            .skip(60)
            .zip(show.written.iter().skip(60))
            .all(|((_, at), written)| { (*at - *written).abs_diff(millis(50)) < millis(1) })
    );
}

#[test]
fn the_playback_delay_of_the_rule_repairs_a_single_loss_and_less_does_not() {
    let rule = minimum_playback_delay(millis(60), millis(20), Duration::ZERO);
    assert_eq!(rule, millis(150));
    // Packets take 0.1 ms to be sent, and both the original and what brings the third duplicate need it.
    for (delay, lost) in [(rule + millis(1), 0), (rule, 1), (rule.saturating_sub(millis(30)), 1)] {
        let show = show(carrier(mtcp()), dropping(30, vec![400]), viewer(delay), audio());
        // Before the window is open frames wait at the sender.
        assert_eq!(show.lost.iter().filter(|unit| **unit > 50).count(), lost, "{delay}");
    }
    conforms(
        Area::Traffic,
        "minimum_playback_delay",
        "MTCP paper (M-E1)",
        "single loss at RTT 60 ms and a frame every 20 ms: repaired with 150 ms + ε, lost with 150 and 120 ms",
        "3 of 3",
    );
}

/// The fate of one frame, and the times at which the next ones were played.
#[derive(Debug, Default)]
struct Tap {
    sent: Vec<(Instant, u32)>,
    retransmitted: Vec<(Instant, u32)>,
    /// Numbers of the data packets on the way there, in order, and how many packets went back before each arrival.
    there: Vec<u32>,
    back: u64,
    arrived: Vec<(Instant, u32, u64)>,
}

impl Observer for Tap {
    const PACKETS: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        let is_ours = packet.is_data() && !packet.to.is_opener();
        match event {
            PacketEvent::Sent if is_ours => self.sent.push((at, packet.number)),
            PacketEvent::Retransmitted if is_ours => self.retransmitted.push((at, packet.number)),
            PacketEvent::Arrived if is_ours => self.arrived.push((at, packet.number, self.back)),
            PacketEvent::Entered(LinkId(0)) | PacketEvent::Dropped(LinkId(0), _) => self.there.push(packet.number),
            PacketEvent::Entered(LinkId(1)) | PacketEvent::Dropped(LinkId(1), _) => self.back += 1,
            _ => {}
        }
    }
}

/// Drops segment 400 and the ACK of its retransmission where no more than five segments may be on their way, with and
/// without heartbeats; gives the transmissions of that segment, the time of the ACK, and the next segment sent after it.
fn drop_segment_and_ack(heartbeat: Option<Duration>) -> (Vec<Instant>, Instant, Instant) {
    const SEGMENT: u32 = 400;
    // A short send buffer would have given the segment up before the timer runs out.
    let backlog = Backlog::AbandonOldest(SendBufferLimit::Unlimited);
    let config = mtcp().with_max_window(5).with_real_time(RealTime { backlog, ..mtcp().real_time });
    let run = |there: &[u64], back: &[u64]| -> Tap {
        let duplex = DuplexLink::both_directions(dropping(30, there.to_vec()), dropping(30, back.to_vec()));
        let viewer = viewer(millis(250)).with_feedback(Feedback { heartbeat, report: None });
        watch(carrier(config), duplex, Some(viewer), audio())
    };
    // Each run is the previous one up to the next drop.
    let place = run(&[], &[]).there.iter().position(|number| *number == SEGMENT).expect("it is sent") as u64;
    let tap = run(&[place], &[]);
    let (at, _, ack) = *tap.arrived.iter().find(|(_, number, _)| *number == SEGMENT).expect("it is repaired");
    let tap = run(&[place], &[ack]);
    let times = |all: &[(Instant, u32)]| -> Vec<Instant> {
        all.iter().filter(|(_, number)| *number == SEGMENT).map(|(at, _)| *at).collect()
    };
    let (next, _) = *tap.sent.iter().find(|(sent, _)| *sent > at).expect("it goes on");
    ([times(&tap.sent), times(&tap.retransmitted)].concat(), at, next)
}

#[test]
fn a_heartbeat_spares_the_second_retransmission_when_the_ack_of_the_first_was_lost() {
    let (transmissions, ..) = drop_segment_and_ack(None);
    assert_eq!(transmissions.len(), 3);
    assert!(transmissions[2] - transmissions[1] >= millis(200), "not before the timer runs out");
    let (transmissions, ack, next) = drop_segment_and_ack(Some(millis(60)));
    assert_eq!(transmissions.len(), 2);
    assert!(next - ack <= millis(60 + 30 + 1), "{} after the lost ACK", next - ack);
    conforms(
        Area::Traffic,
        "heartbeat",
        "MTCP paper (M-F4)",
        "a frame and the ACK of its retransmission lost: without heartbeat a second retransmission after the timer, with it none, and recovery within its period and half a round trip",
        "4 of 4",
    );
}

#[test]
fn lost_frames_at_periodic_drops_stay_below_those_of_udp() {
    // Single drops of every hundredth, fiftieth, 33rd and 25th packet; UDP loses 15, 30, 45 and 60 frames.
    for (period, limit) in [(100, 2.0), (50, 2.0), (33, 22.5), (25, 60.0)] {
        let lost = |phase: u64| {
            let first = 20 + phase * period / 20;
            let rule = LossRule::Periodic { first, period, burst: 1, bursts: u64::MAX };
            show(carrier(mtcp()), channel(Some(rule), 1), deadline(), audio()).lost.len() as f64
        };
        let mean = (0..20).map(lost).sum::<f64>() / 20.0;
        assert!(mean <= limit, "one in {period}: {mean} frames");
    }
}

/// Frames of three segments.
fn video() -> Timetable {
    Timetable::every(0.04, 2500).ending_after(Some(200))
}

#[test]
fn a_frame_of_three_segments_is_lost_with_any_of_them_and_no_other() {
    for drop in 300..303 {
        let config = mtcp().with_mss(1000).with_max_window(64);
        // There is no time for a second transmission.
        let player = Deadline::new(video(), PlaybackDelay::Fixed(millis(100)));
        let show = show(carrier(config), dropping(50, vec![drop]), player.into(), video());
        let lost: Vec<u64> = show.lost.iter().copied().filter(|unit| *unit > 20).collect();
        assert_eq!(lost.len(), 1, "{lost:?}");
        assert_eq!(show.delivered.iter().filter(|(unit, _)| *unit > 20).count(), 200 - 21 - 1);
    }
}

/// The frames that were delivered without a viewer, and the counters of both ends.
#[derive(Debug, Default)]
struct Count {
    delivered: Vec<u32>,
    statistics: RealTimeStatistics,
    losses_reported: u64,
}

impl Observer for Count {
    const STATES: bool = true;

    fn on_unit_delivered(&mut self, _at: Instant, _flow: FlowId, unit: u32) {
        self.delivered.push(unit);
    }

    fn on_state(&mut self, _at: Instant, _flow: FlowId, _arrived: Option<&Packet>, opener: &Connection) {
        self.statistics = opener.real_time_statistics();
        self.losses_reported = opener.losses_reported();
    }
}

#[test]
fn without_a_viewer_whatever_comes_is_read_at_once_and_holes_are_stepped_over() {
    let count: Count = watch(carrier(mtcp()), DuplexLink::new(dropping(50, vec![400])), None, audio());
    assert_eq!(count.delivered.len() as u64, FRAMES - 1);
    assert!(count.delivered.is_sorted());
    assert_eq!((count.statistics.frames_written, count.losses_reported), (FRAMES, 1));
}

#[test]
fn a_plain_stream_whose_reader_skips_at_a_deadline_loses_the_unit_it_steps_over() {
    let real_time = RealTime { delivery: Delivery::SkipAtDeadline(millis(40)), ..RealTime::default() };
    let config = mtcp().with_real_time(RealTime::default()).with_real_time(real_time);
    let show = show(carrier(config), dropping(50, vec![400]), deadline(), audio());
    assert_eq!(show.lost.len(), 1);
    assert_eq!(show.delivered.len() as u64, FRAMES - 1);
    assert!(!show.delivered.iter().any(|(unit, _)| u64::from(*unit) == show.lost[0]));
}

#[test]
fn an_ordinary_peer_on_either_side_gets_ordinary_tcp_and_nothing_is_lost() {
    let ordinary = mtcp().with_real_time(RealTime::default());
    for (opener, listener) in [(mtcp(), ordinary), (ordinary, mtcp())] {
        // Segments may hold several frames where only the reader frames.
        for mss in [100, 1000] {
            let backlog = Backlog::AbandonOldest(SendBufferLimit::Unlimited);
            let with = |config: Config| config.with_mss(mss).with_real_time(RealTime { backlog, ..config.real_time });
            let mut settings = ns2(with(opener));
            settings.listener.real_time = with(listener).real_time;
            let player = Rebuffer::new(audio(), StartRule::After(millis(250)), 1);
            let show = show(settings, random_losses(0.03, 1), player.into(), audio());
            assert_eq!((show.played.len() as u64, show.lost.len(), show.delivered.len() as u64), (FRAMES, 0, FRAMES));
            assert!(!show.stalls.is_empty());
        }
    }
}

#[test]
fn a_rebuffering_player_loses_a_frame_rather_than_stall() {
    let run = |config| {
        // The retransmission leaves 160 ms after the lost frame, behind seven others, and is lost too.
        let player = Rebuffer::new(audio(), StartRule::After(millis(250)), 1).into();
        let show = show(carrier(config), dropping(50, vec![400, 408]), player, audio());
        (show.lost.len(), show.stalls.len())
    };
    assert_eq!(run(mtcp()), (1, 0));
    assert_eq!(run(mtcp().with_real_time(RealTime::default())), (0, 1));
}

#[test]
fn whatever_is_lost_in_both_directions_each_frame_is_played_or_lost_once_and_messages_harm_nothing() {
    let feedback = Feedback { heartbeat: Some(millis(60)), report: Some(millis(500)) };
    for seed in 0..20 {
        for probability in [0.02, 0.05, 0.1] {
            let duplex =
                DuplexLink::both_directions(random_losses(probability, seed), random_losses(probability, seed + 100));
            let viewer = deadline().with_feedback(feedback);
            let show: Show = watch(carrier(mtcp()), duplex, Some(viewer), audio());
            assert_eq!((show.played.len() + show.lost.len(), show.written.len()), (FRAMES as usize, FRAMES as usize));
            assert!(show.played.is_sorted_by(|one, next| one.0 < next.0));
            assert!(show.delivered.is_sorted_by(|one, next| one.0 < next.0), "each at most once, in order");
            assert!(show.heartbeats > 0 && show.reports > 0);
            assert!(show.lost.len() < 1200, "{probability}: it goes on");
        }
    }
}
