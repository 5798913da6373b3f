//! A peer that lies.

use earlybird_datagram::srt::Parameters;
use earlybird_datagram::{Config, Control, Endpoint, Event};
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Datagram, DatagramHeader, SrtAck, SrtData, SrtLosses, SrtNak};
use proptest::prelude::*;

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

fn pair() -> [Endpoint; 2] {
    Endpoint::pair(Config { control: Control::Srt(Parameters::DEFAULT), mss: 1000, ecn: false })
}

fn packet(header: DatagramHeader) -> Datagram {
    Datagram { parts: 1, len: 100, header, ..Datagram::default() }
}

fn nak(first: u32, last: u32) -> Datagram {
    packet(DatagramHeader::SrtNak(SrtNak::new([SrtLosses { first, last }].into_iter())))
}

#[test]
fn losses_that_were_never_sent_are_not_repaired() {
    let [mut sender, _] = pair();
    sender.write_unit(100);
    assert!(sender.poll_transmit(at(0)).is_some());
    for (first, last) in [(1, u32::MAX), (u32::MAX, u32::MAX), (5, 2)] {
        sender.on_datagram(at(1), &nak(first, last));
        assert_eq!(sender.poll_transmit(at(1)), None);
    }
    sender.on_datagram(at(1), &nak(0, u32::MAX));
    assert!(
        sender.poll_transmit(at(1)).is_some_and(|transmit| transmit.is_retransmission && transmit.number == Some(0))
    );
    assert_eq!((sender.poll_transmit(at(2)), sender.sent(), sender.repeated()), (None, 2, 1));
}

#[test]
fn packets_older_than_a_second_and_two_ticks_are_no_longer_repaired() {
    for (time, repairs) in [(1_019, 1), (1_021, 0)] {
        let [mut sender, _] = pair();
        sender.write_unit(100);
        assert!(sender.poll_transmit(at(0)).is_some());
        sender.on_datagram(at(time), &nak(0, 0));
        assert_eq!((sender.poll_transmit(at(time)).is_some(), sender.repeated()), (repairs == 1, repairs));
    }
}

#[test]
fn an_ack_of_unsent_data_does_not_change_the_unsent_data() {
    let [mut sender, _] = pair();
    sender.write_unit(100);
    let ack = SrtAck { number: 7, next: u32::MAX, rtt: Duration::MAX, variance: Duration::MAX };
    sender.on_datagram(at(0), &packet(DatagramHeader::SrtAck(ack)));
    let sent: Vec<_> = std::iter::from_fn(|| sender.poll_transmit(at(0))).map(|sent| sent.datagram.header).collect();
    let data = DatagramHeader::SrtData(SrtData { sequence: 0, written: at(0), is_retransmission: false });
    assert_eq!(sent, [DatagramHeader::SrtAckAck(7), data]);
}

#[test]
fn a_sender_whose_receiver_is_silent_keeps_a_bounded_number() {
    let [mut sender, _] = pair();
    for _ in 0..10_000 {
        sender.write_unit(100);
    }
    let _ = sender.poll_transmit(at(0));
    assert_eq!(sender.kept(), 8192);
}

proptest! {
    #[test]
    fn any_packets_leave_the_receiver_sane(
        packets in proptest::collection::vec((any::<u32>(), 0_u32..10_000, any::<u64>(), 0_u8..8), 1..300),
    ) {
        let [_, mut receiver] = pair();
        let (mut now, mut delivered) = (0, Vec::new());
        for (unit, (wild, near, written, kind)) in (0..).zip(packets) {
            now += 3;
            let sequence = if kind == 0 { wild } else { near };
            let written = if kind < 2 { Instant::from_nanos(written) } else { at(now) };
            let header = match kind {
                7 => DatagramHeader::SrtAckAck(near % 50),
                _ => DatagramHeader::SrtData(SrtData { sequence, written, is_retransmission: false }),
            };
            receiver.on_timeout(at(now));
            receiver.on_datagram(at(now), &Datagram { unit, ..packet(header) });
            while let Some(Event::Delivered(unit)) = receiver.poll_event() {
                delivered.push(unit);
            }
            let sent = std::iter::from_fn(|| receiver.poll_transmit(at(now))).count();
            prop_assert!(sent <= 8192 && receiver.kept() <= 8192);
        }
        delivered.sort_unstable();
        prop_assert!(delivered.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
