//! Frames that may be late, and must never be torn.

use crate::line::{Harm, Line};
use crate::transfers::open;
use earlybird_live::device::Carriage;
use earlybird_live::{Error, Event};
use earlybird_tcp::{Config, RealTime, SendLimit, WriteError};
use earlybird_units::Duration;

const BYTES: usize = 1000;

/// A frame that tells its number in each of its bytes.
fn frame(number: u64) -> Vec<u8> {
    vec![number as u8; BYTES]
}

#[test]
fn frames_arrive_whole_and_in_order_and_what_is_missing_was_given_up() {
    let harm = Harm { lost: 0.05, ..Harm::default() };
    for carriage in [Carriage::Ip, Carriage::Udp] {
        let mut line = Line::new(carriage, false, Duration::from_millis(40), harm, 5);
        let config = Config { mss: 1460, ..Config::earlybird_rt(Duration::from_millis(150)) };
        let [source, viewer] = open(&mut line, &config);
        let (mut got, mut written) = (Vec::new(), 0);
        let begin = line.now();
        let mut buffer = [0; 2000];
        while written < 250 {
            let next = begin + Duration::from_millis(10) * written;
            let now = line.step_until(next);
            if now >= next {
                assert_eq!(line.hosts[0].write_frame(source, &frame(written), written), Ok(written));
                written += 1;
            }
            // Who plays 150 ms behind the source asks for what is due, and steps over what is not there.
            while let Some(len) = line.hosts[1].read_frame(viewer, &mut buffer).unwrap() {
                assert_eq!(len, BYTES);
                assert!(buffer[..len].iter().all(|byte| *byte == buffer[0]), "a torn frame");
                got.push(buffer[0]);
            }
        }
        assert!(got.is_sorted() && got.len() > 200, "{} of 250: {got:?}", got.len());
    }
}

/// The source goes on for ten seconds while nothing arrives: what waits is bounded by the deadline.
#[test]
fn what_is_given_up_is_told_and_takes_no_memory() {
    let mut line = Line::new(Carriage::Ip, false, Duration::from_millis(10), Harm::default(), 5);
    let config = Config { real_time: RealTime::mtcp(SendLimit::Segments(12)), ..Config::rfc() };
    let [source, _] = open(&mut line, &config);
    line.largest = 0;
    for number in 0..100 {
        assert_eq!(line.hosts[0].write_frame(source, &frame(number)[..500], number), Ok(number));
        let next = line.now() + Duration::from_millis(100);
        line.step_until(next);
    }
    let held = line.hosts[0].connection(source).unwrap().frames_held();
    let discarded = std::iter::from_fn(|| line.hosts[0].poll_abandoned(source).unwrap()).count() as u64;
    assert_eq!((held, held + discarded), (12, 100));
}

#[test]
fn a_connection_for_frames_takes_no_bytes_and_one_for_bytes_no_frames() {
    let mut line = Line::new(Carriage::Ip, false, Duration::from_millis(10), Harm::default(), 5);
    let framing = Config { real_time: RealTime::mtcp(SendLimit::Unlimited), ..Config::rfc() };
    let [source, viewer] = open(&mut line, &framing);
    assert_eq!(line.hosts[0].write(source, b"text"), Err(Error::Write(WriteError::Framed)));
    let too_long = line.hosts[0].write_frame(source, &[0; 2000], 0);
    assert!(matches!(too_long, Err(Error::Write(WriteError::TooLong { .. }))), "{too_long:?}");
    assert_eq!(line.hosts[0].write_frame(source, &[7; 500], 0), Ok(0));
    while line.hosts[1].poll_event().is_none_or(|(_, event)| event != Event::Readable) {
        line.step().expect("it arrives");
    }
    assert_eq!(line.hosts[1].read_frame(viewer, &mut [0; 100]), Err(Error::FrameTooLong(500)));
    assert_eq!(line.hosts[1].read_frame(viewer, &mut [0; 500]), Ok(Some(500)));
}
