//! The channel that fades for a time against what theory says about it.

use crate::dumbbell::{BUDGET, DuplexLink, FORWARD, link, lossy, ns2, seconds};
use crate::losses::{loss, packet};
use crate::markov::{CRITICAL, PACKETS, assert_close, chi_square, mean, tolerance};
use earlybird_conformance::{Area, conforms};
use earlybird_sim::{Discipline, Fading, LinkSettings, LossRule, Observer, Packet, PacketEvent, QueueLimit};
use earlybird_tcp::Config;
use earlybird_units::{Duration, Instant};

const MEAN_FADE: Duration = Duration::from_millis(60);

/// Returns of each packet whether it is lost, if they come so many milliseconds apart.
fn lost_every(spacing: u64, ratio: f64, seed: u64, packets: u64) -> Vec<bool> {
    let mut loss = loss(LossRule::Fading(Fading::new(ratio, MEAN_FADE)), seed);
    let packet = packet(0, 0);
    (0..packets).map(|number| loss.is_lost(Instant::ZERO + Duration::from_millis(spacing) * number, &packet)).collect()
}

fn share(lost: &[bool]) -> f64 {
    lost.iter().filter(|is_lost| **is_lost).count() as f64 / lost.len() as f64
}

/// Returns the lengths of the runs of losses.
fn runs(lost: &[bool]) -> Vec<usize> {
    lost.chunk_by(|one, next| one == next).filter(|run| run[0]).map(<[bool]>::len).collect()
}

/// Returns exp(−dt/τ), 1/τ = 1/B + 1/G, where bad spells last B and good ones G = B·(1 − P)/P: τ = B·(1 − P).
fn memory(ratio: f64, milliseconds: u64) -> f64 {
    (-(milliseconds as f64) / (60.0 * (1.0 - ratio))).exp()
}

#[test]
fn the_share_lost_is_that_of_bad_time_however_far_apart_the_packets_come() {
    for (seed, spacing, ratio) in [(1, 1, 0.05), (2, 20, 0.05), (3, 1000, 0.05), (4, 20, 0.5)] {
        let lost = share(&lost_every(spacing, ratio, seed, PACKETS));
        assert_close(lost, ratio, tolerance(ratio, memory(ratio, spacing)));
    }
}

/// A packet after a lost one comes through with (1 − P)·(1 − exp(−dt/τ)), so that runs are geometric.
#[test]
fn bad_spells_last_their_mean_time_and_lose_runs_of_geometric_length() {
    for (seed, spacing, ratio) in [(1, 20, 0.05), (2, 50, 0.05), (3, 20, 0.3)] {
        let lengths = runs(&lost_every(spacing, ratio, seed, PACKETS));
        let end = (1.0 - ratio) * (1.0 - memory(ratio, spacing));
        assert_close(mean(&lengths), 1.0 / end, 0.02);
        let fit = chi_square(&lengths, end);
        assert!(fit < CRITICAL, "chi-square {fit} every {spacing} ms");
    }
    // 5000 spells, seen every millisecond: their mean deviates by 1.4 %.
    assert_close(mean(&runs(&lost_every(1, 0.3, 5, PACKETS))), 60.0, 0.05);
}

#[test]
fn the_closer_a_packet_follows_a_lost_one_the_likelier_it_is_lost_too() {
    let ratio = 0.1;
    let lost = lost_every(5, ratio, 1, PACKETS);
    for steps in [1, 2, 4, 12, 40, 200] {
        let pairs = lost.iter().zip(&lost[steps..]).filter(|(first, _)| **first);
        let second: Vec<bool> = pairs.map(|(_, second)| *second).collect();
        let expected = ratio + (1.0 - ratio) * memory(ratio, 5 * steps as u64);
        assert!((share(&second) - expected).abs() < 0.01, "{} instead of {expected} after {steps}", share(&second));
    }
    conforms(
        Area::Network,
        "fading",
        "Gilbert 1960 in continuous time: P + (1 − P)·exp(−dt/τ), τ = L·(1 − P)",
        "share lost, runs of losses and losses after a loss of 10⁶ packets, 1 ms to 1 s apart, mean fade 60 ms",
        "shares within 5 σ; mean runs within 2 %, chi-square of their lengths (9 degrees of freedom) below its 99.9 % point; \
         losses after a loss within 0.01",
    );
}

#[test]
fn packets_between_others_change_nothing_for_them() {
    let every_twentieth: Vec<bool> = lost_every(1, 0.2, 1, 100_000).into_iter().step_by(20).collect();
    assert_eq!(every_twentieth, lost_every(20, 0.2, 1, 5000));
}

#[test]
fn equal_seeds_fade_at_equal_times_and_others_at_others() {
    assert_eq!(lost_every(20, 0.2, 1, 5000), lost_every(20, 0.2, 1, 5000));
    assert_ne!(lost_every(20, 0.2, 1, 5000), lost_every(20, 0.2, 2, 5000));
}

#[test]
fn a_channel_that_is_bad_for_no_share_of_the_time_loses_nothing() {
    assert!(runs(&lost_every(1000, 0.0, 1, PACKETS)).is_empty());
}

/// Remembers when packets came to the forward link, and whether they were dropped.
#[derive(Default)]
struct Log(Vec<(Instant, bool)>);

impl Observer for Log {
    const PACKETS: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, _packet: &Packet) {
        match event {
            PacketEvent::Entered(link) if link == FORWARD => self.0.push((at, false)),
            PacketEvent::Dropped(link, _) if link == FORWARD => self.0.push((at, true)),
            _ => {}
        }
    }
}

#[test]
fn a_link_loses_the_packets_that_come_while_it_fades() {
    for discipline in [Discipline::DropTail, Discipline::DropHead] {
        let rule = || loss(LossRule::Fading(Fading::new(0.2, MEAN_FADE)), 1);
        let forward = lossy(link(8_000_000, 10, QueueLimit::Unlimited), vec![rule()]);
        let duplex = DuplexLink::new(LinkSettings { discipline, ..forward });
        let mut world = duplex.world(ns2(Config::ns2()), 2_000_000, Log::default());
        assert!(world.run_until(seconds(30), BUDGET));
        let (_, Log(packets)) = world.into_parts();
        let (mut rule, packet) = (rule(), packet(0, 0));
        assert!(packets.iter().any(|(_, is_lost)| *is_lost));
        assert!(packets.iter().all(|(at, is_lost)| rule.is_lost(*at, &packet) == *is_lost));
    }
}
