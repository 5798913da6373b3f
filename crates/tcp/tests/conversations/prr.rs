//! Proportional rate reduction against the examples of RFC 9937 §8: twenty segments in flight, a threshold of ten.

use crate::host::Host;
use crate::plain;
use earlybird_conformance::{Area, conforms};
use earlybird_tcp::{Recovery, WindowReduction};

/// A connection with twenty of many segments outstanding, at 200 ms. The RFC's segment 0 is number 1 here.
fn twenty(recovery: Recovery, window_reduction: WindowReduction) -> Host {
    let mut host = Host::connected(
        &plain().with_initial_window(20).with_recovery_only(recovery).with_window_reduction(window_reduction),
    );
    host.write(1_000_000).forget_sent();
    host.at(200);
    host
}

/// The effects of one ACK: the window after it, the estimate of the flight before anything was sent, and the numbers sent.
type Row = (f64, u64, Vec<u64>);

/// Lets segments `lost` to 22 of the RFC's numbering arrive one by one, then the retransmission of its segment 0.
fn rows(host: &mut Host, lost: u64, end: u64) -> Vec<Row> {
    (lost..=end)
        .map(|segment| {
            // Segments sent by limited transmit arrive a round trip later.
            host.at(if segment < 20 { 200 } else { 281 } + segment).ack(1, &[1 + lost..segment + 2]);
            row(host)
        })
        .collect()
}

fn row(host: &mut Host) -> Row {
    let sent = host.take_numbers();
    (host.connection.cwnd(), host.connection.in_flight() - sent.len() as u64, sent)
}

fn split(rows: &[Row]) -> (Vec<f64>, Vec<u64>, Vec<usize>) {
    let (cwnd, rest): (Vec<_>, Vec<_>) = rows.iter().map(|(cwnd, flight, sent)| (*cwnd, (*flight, sent.len()))).unzip();
    let (flight, sent) = rest.into_iter().unzip();
    (cwnd, flight, sent)
}

/// §8, first figure, lower half: `c`, `i` and `s` for ACKs 1 to 22. The figure goes on in proportion with the 19th ACK,
/// though `inflight` is not above `ssthresh` any more (§6.2): by the text, that segment leaves with the 20th.
#[test]
fn one_loss_of_twenty_sends_on_every_other_ack() {
    for recovery in [Recovery::Rfc6675, Recovery::Rack] {
        let mut host = twenty(recovery, WindowReduction::Proportional);
        let mut rows = rows(&mut host, 1, 21);
        assert_eq!(rows[2].2, [1], "the third duplicate retransmits");
        host.at(303).ack(23, &[]);
        rows.push(row(&mut host));
        let (cwnd, flight, sent) = split(&rows);
        let expected = [20, 20, 19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 10, 10, 10, 10];
        assert_eq!(cwnd, expected.map(f64::from));
        assert_eq!(flight, [19, 19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 9, 9, 9]);
        assert_eq!(sent, [1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1]);
        assert!(!host.connection.is_recovering());
    }
    let compared =
        "cwnd, inflight and segments sent for ACKs 1 to 22, one loss of 20 (with RFC 6675 and with RACK-TLP)";
    conforms(
        Area::Recovery,
        "prr",
        "RFC 9937 §8, first example",
        compared,
        "62 of 66 entries equal; one segment leaves with ACK 20, by §6.2, not with 19",
    );
}

/// §8, first figure, upper half: the window falls at once, and half a round trip passes in silence.
#[test]
fn without_it_nothing_is_sent_for_half_a_round_trip_after_one_loss_of_twenty() {
    let mut host = twenty(Recovery::Rfc6675, WindowReduction::Immediate);
    let mut rows = rows(&mut host, 1, 21);
    host.at(303).ack(23, &[]);
    rows.push(row(&mut host));
    let (cwnd, flight, sent) = split(&rows);
    assert_eq!(cwnd, [[20.0; 2].as_slice(), &[10.0; 20]].concat());
    assert_eq!(flight, [19, 19, 18, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9]);
    assert_eq!(sent, [[1; 3].as_slice(), &[0; 9], &[1; 10]].concat());
    let compared = "cwnd, inflight and segments sent for ACKs 1 to 22, one loss of 20";
    conforms(Area::Recovery, "rfc6675", "RFC 9937 §8, first example", compared, "66 of 66 entries equal");
}

/// §8, second example, and the one of RFC 6937 §3.1: fifteen losses in a row leave four segments in flight. The conservative bound sends one segment for
/// each that arrives, where RFC 6675 bursts.
#[test]
fn fifteen_losses_of_twenty_send_one_segment_for_each_that_arrives() {
    let mut host = twenty(Recovery::Rfc6675, WindowReduction::Proportional);
    let (cwnd, flight, sent) = split(&rows(&mut host, 15, 19));
    assert_eq!((cwnd, flight), (vec![20.0, 20.0, 5.0, 5.0, 5.0], vec![19, 19, 4, 4, 4]));
    assert_eq!(sent, [1; 5]);
    let mut host = twenty(Recovery::Rfc6675, WindowReduction::Immediate);
    let (cwnd, flight, sent) = split(&rows(&mut host, 15, 19));
    assert_eq!((cwnd, flight), (vec![20.0, 20.0, 10.0, 10.0, 10.0], vec![19, 19, 4, 9, 9]));
    assert_eq!(sent, [1, 1, 6, 1, 1]);
    conforms(
        Area::Recovery,
        "prr",
        "RFC 6937 §3.1, second example (PRR-CRB)",
        "inflight and segments sent for ACKs 15 to 19, fifteen losses of 20",
        "N N R R R; 10 of 10 entries equal",
    );
}

/// §6.2: an ACK that moves the window forward and tells of no further loss allows one segment more.
#[test]
fn a_safe_ack_allows_one_segment_more() {
    let mut host = twenty(Recovery::Rfc6675, WindowReduction::Proportional);
    rows(&mut host, 15, 19);
    // Segments 1 to 3 went again. Their ACKs come one by one: two segments for each.
    for (next, sent) in [(2, vec![4, 5]), (3, vec![6, 7]), (4, vec![8, 9])] {
        host.at(300 + next).ack(next, &[16..21]).sends_numbers(&sent);
    }
}

/// At the end the window is the threshold, whatever was in flight.
#[test]
fn recovery_ends_with_the_threshold() {
    let mut host = twenty(Recovery::Rfc6675, WindowReduction::Proportional);
    rows(&mut host, 15, 19);
    host.at(303).ack(23, &[]).has_window(10.0, 10.0);
    assert!(!host.connection.is_recovering());
}
