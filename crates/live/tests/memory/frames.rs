//! Real-time mode: frames may be skipped, but never split.

use crate::path::{Impairments, TestPath};
use crate::transfers::open;
use earlybird_live::device::Encapsulation;
use earlybird_live::{Error, Event};
use earlybird_tcp::{Config, RealTime, SendBufferLimit, WriteError};
use earlybird_units::Duration;

const BYTES: usize = 1000;

/// A frame whose bytes all equal its number.
fn frame(number: u64) -> Vec<u8> {
    vec![number as u8; BYTES]
}

#[test]
fn frames_arrive_whole_and_in_order() {
    let impairments = Impairments { lost: 0.05, ..Impairments::default() };
    for encapsulation in [Encapsulation::Ip, Encapsulation::Udp] {
        let mut net = TestPath::new(encapsulation, false, Duration::from_millis(40), impairments, 5);
        let config = Config::earlybird_rt(Duration::from_millis(150)).with_mss(1460);
        let [source, viewer] = open(&mut net, &config);
        let (mut got, mut written) = (Vec::new(), 0);
        let begin = net.now();
        let mut buffer = [0; 2000];
        while written < 250 {
            let due = begin + Duration::from_millis(10) * written;
            let now = net.step_until(due);
            if now >= due {
                assert_eq!(net.hosts[0].write_frame(source, &frame(written), written), Ok(written));
                written += 1;
            }
            // A player 150 ms behind the source reads what is due, and skips what is missing.
            while let Some(len) = net.hosts[1].read_frame(viewer, &mut buffer).unwrap() {
                assert_eq!(len, BYTES);
                assert!(buffer[..len].iter().all(|byte| *byte == buffer[0]), "a torn frame");
                got.push(buffer[0]);
            }
        }
        assert!(got.is_sorted() && got.len() > 200, "{} of 250: {got:?}", got.len());
    }
}

/// The source writes for ten seconds while nothing is delivered: the send limit bounds the number of stored frames.
#[test]
fn abandoned_frames_are_reported_and_freed() {
    let mut net = TestPath::new(Encapsulation::Ip, false, Duration::from_millis(10), Impairments::default(), 5);
    let config = Config::rfc().with_real_time(RealTime::mtcp(SendBufferLimit::Segments(12)));
    let [source, _] = open(&mut net, &config);
    net.largest = 0;
    for number in 0..100 {
        assert_eq!(net.hosts[0].write_frame(source, &frame(number)[..500], number), Ok(number));
        let due = net.now() + Duration::from_millis(100);
        net.step_until(due);
    }
    let held = net.hosts[0].connection(source).unwrap().frames_held();
    let abandoned = std::iter::from_fn(|| net.hosts[0].poll_abandoned(source).unwrap()).count() as u64;
    assert_eq!((held, held + abandoned), (12, 100));
}

#[test]
fn frame_connections_refuse_byte_writes_and_long_frames() {
    let mut net = TestPath::new(Encapsulation::Ip, false, Duration::from_millis(10), Impairments::default(), 5);
    let framing = Config::rfc().with_real_time(RealTime::mtcp(SendBufferLimit::Unlimited));
    let [source, viewer] = open(&mut net, &framing);
    assert_eq!(net.hosts[0].write(source, b"text"), Err(Error::Write(WriteError::Framed)));
    let too_long = net.hosts[0].write_frame(source, &[0; 2000], 0);
    assert!(matches!(too_long, Err(Error::Write(WriteError::TooLong { .. }))), "{too_long:?}");
    assert_eq!(net.hosts[0].write_frame(source, &[7; 500], 0), Ok(0));
    while net.hosts[1].poll_event().is_none_or(|(_, event)| event != Event::Readable) {
        net.step().expect("it arrives");
    }
    assert_eq!(net.hosts[1].read_frame(viewer, &mut [0; 100]), Err(Error::FrameTooLong(500)));
    assert_eq!(net.hosts[1].read_frame(viewer, &mut [0; 500]), Ok(Some(500)));
}
