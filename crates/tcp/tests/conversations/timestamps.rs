//! Timestamps: RFC 7323 §3 to §5.

use crate::host::Host;
use earlybird_tcp::{Acking, Config, Connection, Cx, RfcState};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Flags, Options, Segment, Timestamps};

fn accepted(config: &Config) -> Host {
    let mut host = Host::listen(config);
    host.receives("S 0:0(0) <mss 1000,sackOK,TS 700/0>").receives(". 1:1(0) ack 1 <TS 700/0>").forget_sent();
    host
}

#[test]
fn every_segment_carries_the_clock_in_milliseconds_and_the_echo() {
    let mut host = accepted(&Config::rfc());
    host.at(50).receives(". 1:1001(1000) ack 1 <TS 750/0>").sends(&[". 1:1(0) ack 1001 win 63000 <TS 50/750>"]);
    host.at(60).write(100).sends(&["P. 1:101(100) ack 1001 <TS 60/750>"]);
}

/// RFC 7323 §4.3 (A): the earliest unacknowledged segment is the one echoed.
#[test]
fn a_delayed_ack_echoes_the_first_of_two_segments() {
    let mut host = accepted(&Config::rfc().with_acking(Acking::Delayed(Duration::from_millis(200))));
    host.at(50).receives(". 1:1001(1000) ack 1 <TS 710/0>").at(60).receives(". 1001:2001(1000) ack 1 <TS 720/0>");
    host.sends(&[". 1:1(0) ack 2001 win 62000 <TS 60/710>"]);
}

/// RFC 7323 §4.3 (B) and (C): behind a gap the last segment in order is echoed, then the one that fills the gap.
#[test]
fn a_gap_holds_the_echo_until_it_is_filled() {
    let mut host = accepted(&Config::rfc());
    host.receives(". 1:1001(1000) ack 1 <TS 710/0>").forget_sent();
    host.receives(". 2001:3001(1000) ack 1 <TS 730/0>")
        .sends(&[". 1:1(0) ack 1001 win 63000 <TS 0/710,sack 2001:3001>"]);
    host.receives(". 1001:2001(1000) ack 1 <TS 900/0>").sends(&[". 1:1(0) ack 3001 win 61000 <TS 0/900>"]);
}

/// RFC 7323 §5.3, R1.
#[test]
fn paws_drops_a_segment_with_an_older_timestamp_and_sends_an_ack() {
    let mut host = accepted(&Config::rfc());
    host.receives(". 1:1001(1000) ack 1 <TS 710/0>").forget_sent();
    host.receives(". 1001:2001(1000) ack 1 <TS 709/0>").sends(&[". 1:1(0) ack 1001 win 63000 <TS 0/710>"]);
    assert_eq!(host.connection.received(), 1000);
    host.receives(". 1001:2001(1000) ack 1 <TS 710/0>");
    assert_eq!(host.connection.received(), 2000);
}

/// RFC 7323 §5.3: "RST segments MUST NOT be subjected to the PAWS check".
#[test]
fn paws_does_not_concern_resets() {
    let mut host = accepted(&Config::rfc());
    host.receives("R 1:1(0) <TS 1/0>").is_in(earlybird_tcp::RfcState::Closed);
}

/// RFC 2018 §3: 40 bytes of options hold four blocks, or three beside timestamps.
#[test]
fn beside_timestamps_only_three_sack_blocks_fit_into_a_header() {
    let mut host = accepted(&Config::rfc().with_sack_blocks(4));
    for start in [1001, 3001, 5001] {
        host.receives(&format!(". {start}:{}(1000) ack 1 <TS 700/0>", start + 1000));
    }
    host.forget_sent().receives(". 7001:8001(1000) ack 1 <TS 700/0>");
    host.sends(&[". 1:1(0) ack 1 win 64000 <TS 0/700,sack 7001:8001 5001:6001 3001:4001>"]);
}

/// The timestamp clock is a number modulo 2³².
#[test]
fn paws_survives_the_wrap_of_the_clock() {
    let mut host = Host::listen(&Config::rfc());
    host.receives("S 0:0(0) <mss 1000,TS 4294967290/0>").receives(". 1:1(0) ack 1 <TS 4294967291/0>").forget_sent();
    host.receives(". 1:1001(1000) ack 1 <TS 5/0>").sends(&[". 1:1(0) ack 1001 win 63000 <TS 0/5>"]);
    host.receives(". 1001:2001(1000) ack 1 <TS 4294967295/0>");
    assert_eq!(host.connection.received(), 1000);
}

/// RFC 6298 §3: Karn's algorithm does not apply where timestamps tell which transmission was acknowledged.
#[test]
fn the_echo_measures_a_round_trip_over_a_retransmission() {
    let mut host = Host::connect(&Config::rfc());
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK,TS 700/0>").write(988).forget_sent();
    host.at(1100).sends(&["P. 1:989(988) ack 1 win 64000 <TS 1100/700>"]);
    assert_eq!(host.timeout(), 2000);
    // 400 ms after the second transmission. The SYN gave 100 ms: RTTVAR = ¾·50 + ¼·300 = 112.5 ms, SRTT = ⅞·100 + ⅛·400
    // = 137.5 ms, RTO = 587.5 ms, and the floor of 1 s (RFC 6298 §2).
    host.at(1500).receives(". 1:1(0) ack 989 <TS 1800/1100>");
    let timer = host.connection.timer();
    assert_eq!((timer.smoothed, timer.back_off, host.timeout()), (Some(Duration::from_micros(137_500)), 1, 1000));
}

#[test]
fn the_first_data_segment_is_echoed_not_the_syn() {
    let mut host = Host::listen(&Config::rfc());
    host.receives("S 0:0(0) <mss 1000,sackOK,TS 700/0>").forget_sent();
    host.at(300).receives(". 1:1001(1000) ack 1 <TS 1000/0>").sends(&[". 1:1(0) ack 1001 win 63000 <TS 300/1000>"]);
}

/// RFC 2883 tells of data received twice; a segment that is too old for its timestamp was not received.
#[test]
fn the_data_of_an_old_segment_behind_a_hole_are_not_reported_as_a_duplicate() {
    let mut host = Host::listen(&Config::rfc());
    host.receives("S 0:0(0) <mss 1000,sackOK,TS 700/0>").receives(". 1:1(0) ack 1 <TS 700/0>");
    host.receives(". 1:1001(1000) ack 1 <TS 710/0>").receives(". 2001:3001(1000) ack 1 <TS 720/0>").forget_sent();
    host.receives(". 2001:3001(1000) ack 1 <TS 600/0>");
    host.sends(&[". 1:1(0) ack 1001 win 63000 <TS 0/710,sack 2001:3001>"]);
    host.receives(". 1:1001(1000) ack 1 <TS 600/0>");
    host.sends(&[". 1:1(0) ack 1001 <TS 0/710,sack 1:1001 2001:3001>"]);
}

/// Linux refuses it (`LINUX_MIB_PAWSACTIVEREJECTED`): it answers the SYN of an earlier connection. Zero may be no echo at all.
#[test]
fn an_answer_to_a_syn_that_echoes_a_time_at_which_there_was_none_is_refused_if_so_chosen() {
    for (validate_tsecr, echo, is_taken) in [
        (false, 9999, true),
        (true, 9999, false),
        (true, 301, false),
        (true, 300, true),
        (true, 100, true),
        (true, 0, true),
    ] {
        let mut connection =
            Connection::connect(&Config::rfc().with_tsecr_validation(validate_tsecr), SeedTree::new(1));
        let cx = &mut Cx { now: Instant::ZERO + Duration::from_millis(100), trace: &mut () };
        let syn = connection.poll_transmit(cx).expect("a SYN").segment;
        let stamps = Timestamps { value: 700, echo };
        let options = Options { timestamps: Some(stamps), ..Options::default() };
        let answer = Segment { ack: syn.seq.at(1), flags: Flags::SYN | Flags::ACK, options, ..Segment::default() };
        let cx = &mut Cx { now: Instant::ZERO + Duration::from_millis(300), trace: &mut () };
        connection.on_segment(cx, &answer);
        let sent = connection.poll_transmit(cx).expect("an answer").segment;
        let (state, flags) =
            if is_taken { (RfcState::Established, Flags::ACK) } else { (RfcState::SynSent, Flags::RST) };
        assert_eq!((connection.state(), sent.flags), (state, flags), "{echo}");
        assert_eq!((sent.seq, connection.drop_counters().echoes), (syn.seq.at(1), u64::from(!is_taken)));
    }
}
