//! Real-time mode: frames may be skipped, but never split.

use crate::path::{Impairments, TestPath};
use crate::transfers::open;
use earlybird_live::device::Encapsulation;
use earlybird_live::{Error, Event, Id};
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

/// The largest datagram payload of a path of 1280 bytes: without the headers of IPv4 and UDP.
const SMALL_PATH: usize = 1280 - 20 - 8;

/// Writes a frame of the largest size every 5 ms for three seconds, and returns when each one that arrived was written.
fn stream_largest(net: &mut TestPath, [source, viewer]: [Id; 2]) -> Vec<u64> {
    let (mut arrived, mut buffer, begin) = (Vec::new(), [0; 2000], net.now());
    for number in 0..600 {
        let due = begin + Duration::from_millis(5) * number;
        while net.step_until(due) < due {}
        let size = net.hosts[0].connection(source).unwrap().effective_mss() as usize;
        net.hosts[0].write_frame(source, &[number as u8; 2000][..size], number).unwrap();
        while let Some(len) = net.hosts[1].read_frame(viewer, &mut buffer).unwrap() {
            assert!(buffer[..len].iter().all(|byte| *byte == buffer[0]), "a torn frame");
            arrived.push(due.since(begin).as_nanos() / 1_000_000);
        }
    }
    arrived
}

/// The symptom: every frame expired before the timer had expired often enough, so that none ever arrived; and each new connection
/// began with the large ones again.
#[test]
fn frames_pass_a_path_of_1280_bytes_that_reports_nothing() {
    let mut net = TestPath::new(Encapsulation::Udp, false, Duration::from_millis(10), Impairments::default(), 5);
    let config = Config::earlybird_rt(Duration::from_millis(120)).with_mss(1452);
    let ends = open(&mut net, &config);
    net.largest = SMALL_PATH;
    let arrived = stream_largest(&mut net, ends);
    assert!(arrived[0] < 1_500 && arrived.len() > 300, "{} from {} ms on", arrived.len(), arrived[0]);
    net.hosts[1].unlisten(80).unwrap();
    let ends = open(&mut net, &config);
    let arrived = stream_largest(&mut net, ends);
    assert!(arrived[0] < 50 && arrived.len() > 590, "{} from {} ms on", arrived.len(), arrived[0]);
}

/// The symptom: for 42 seconds nothing arrived, and the frames that were repeated came in pieces.
#[test]
fn frames_pass_a_path_that_shrinks_in_mid_stream() {
    let mut net = TestPath::new(Encapsulation::Udp, false, Duration::from_millis(10), Impairments::default(), 5);
    let ends = open(&mut net, &Config::earlybird_rt(Duration::from_millis(300)).with_mss(1452));
    assert!(stream_largest(&mut net, ends).len() > 590);
    net.largest = SMALL_PATH;
    let arrived = stream_largest(&mut net, ends);
    assert!(arrived.len() > 300, "{} of 600", arrived.len());
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
    let abandoned: Vec<_> = std::iter::from_fn(|| net.hosts[0].poll_abandoned(source).unwrap()).collect();
    assert_eq!((held, held + abandoned.len() as u64), (12, 100));
    assert!(abandoned.iter().all(|frame| frame.unit == Some(frame.number)), "{abandoned:?}");
    assert_eq!(net.hosts[0].units_held(source), Ok(12));
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
