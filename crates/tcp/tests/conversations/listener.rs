//! A port that many peers connect to: RFC 9293 §3.10.7.1 and §3.10.7.2, RFC 4987, RFC 5961, RFC 7413 §4.

use crate::notation;
use crate::plain;
use earlybird_tcp::{
    Config, Connection, Cx, Event, FastOpenServer, ListenConfig, Listener, Opened, Response, RfcState, SynCookies,
    reject,
};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Addresses, Flags, Segment, SeqNum};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

const PEER: SeqNum = SeqNum(5000);
const OFFER: &str = "mss 1000,sackOK,wscale 0";

/// A listener in conversation with peers that have numbers; all their SYNs have the number [`PEER`].
struct Port {
    listener: Listener,
    now: Instant,
    origins: BTreeMap<u32, SeqNum>,
    opened: BTreeMap<u32, Opened>,
}

fn peer(number: u32) -> Addresses {
    let source = Ipv4Addr::from(0x0a00_0000 + number / 50_000).into();
    let source_port = 1000 + (number % 50_000) as u16;
    Addresses { source, destination: Ipv4Addr::new(192, 0, 2, 1).into(), source_port, destination_port: 80 }
}

impl Port {
    fn new(config: &Config, settings: ListenConfig) -> Self {
        let listener = Listener::new(config, settings, [7; 16], SeedTree::new(1));
        Self { listener, now: Instant::ZERO, origins: BTreeMap::new(), opened: BTreeMap::new() }
    }

    fn at(&mut self, millis: u64) -> &mut Self {
        self.now = Instant::ZERO + Duration::from_millis(millis);
        self
    }

    fn text(&mut self, number: u32, segment: &Segment) -> String {
        if segment.flags.contains(Flags::SYN) {
            self.origins.insert(number, segment.seq);
        }
        notation::write(segment, self.origins.get(&number).copied().unwrap_or_default(), PEER, Some(segment.window))
    }

    /// Takes a segment from a peer, and gives what goes back at once.
    fn receives(&mut self, number: u32, text: &str) -> Vec<String> {
        let origin = self.origins.get(&number).copied().unwrap_or_default();
        self.receives_segment(number, &notation::read(text, PEER, origin, 64_000))
    }

    fn receives_segment(&mut self, number: u32, segment: &Segment) -> Vec<String> {
        let cx = &mut Cx { now: self.now, trace: &mut () };
        match self.listener.on_segment(cx, &peer(number), segment) {
            Response::Nothing => Vec::new(),
            Response::Answer(answer) => vec![self.text(number, &answer)],
            Response::Opened(opened) => {
                self.opened.insert(number, opened);
                self.transmits(number)
            }
        }
    }

    /// Returns what a connection sends.
    fn transmits(&mut self, number: u32) -> Vec<String> {
        let cx = &mut Cx { now: self.now, trace: &mut () };
        let connection = &mut self.opened.get_mut(&number).expect("it is open").connection;
        let sent: Vec<_> = std::iter::from_fn(|| connection.poll_transmit(cx)).collect();
        sent.iter().map(|transmit| self.text(number, &transmit.segment)).collect()
    }

    /// Returns the answers that go again at this time, and to whom.
    fn repeats(&mut self) -> Vec<String> {
        let now = self.now;
        let answers: Vec<_> = std::iter::from_fn(|| self.listener.poll_transmit(now)).collect();
        let number = |addresses: Addresses| u32::from(addresses.source_port) - 1000;
        answers.iter().map(|(to, answer)| self.text(number(*to), answer)).collect()
    }

    fn connection(&mut self, number: u32) -> &mut Connection {
        &mut self.opened.get_mut(&number).expect("it is open").connection
    }

    /// Takes a whole handshake.
    fn opens(&mut self, number: u32) -> bool {
        self.receives(number, &format!("S 0:0(0) <{OFFER}>"));
        self.receives(number, ". 1:1(0) ack 1");
        self.opened.contains_key(&number)
    }

    fn accepts(&mut self) -> Vec<u32> {
        std::iter::from_fn(|| self.listener.accept()).map(|addresses| u32::from(addresses.source_port) - 1000).collect()
    }
}

fn small(half_open: usize, syn_cookies: SynCookies) -> ListenConfig {
    ListenConfig { half_open, syn_cookies, ..ListenConfig::default() }
}

#[test]
fn the_answer_is_the_one_of_a_connection_that_listens() {
    for offer in [OFFER, "mss 500", "mss 1460,sackOK,TS 700/0,wscale 9", "snack"] {
        let mut port = Port::new(&Config::rfc(), ListenConfig::default());
        let syn = notation::read(&format!("SEW 0:0(0) <{offer}>"), PEER, SeqNum(0), 64_000);
        let answer = port.receives_segment(1, &syn);
        let mut connection = Connection::listen(&Config::rfc(), SeedTree::new(1));
        let cx = &mut Cx { now: Instant::ZERO, trace: &mut () };
        connection.on_segment(cx, &syn);
        let mut expected = connection.poll_transmit(cx).expect("an answer").segment;
        expected.seq = port.origins[&1];
        if let Some(stamps) = &mut expected.options.timestamps {
            let Response::Answer(answer) = port.listener.on_segment(cx, &peer(1), &syn) else { panic!("an answer") };
            stamps.value = answer.options.timestamps.expect("timestamps").value;
        }
        assert_eq!(answer, [notation::write(&expected, expected.seq, PEER, Some(expected.window))]);
    }
}

#[test]
fn many_peers_are_served_and_accepted_in_the_order_in_which_their_handshakes_ended() {
    let mut port = Port::new(&plain(), ListenConfig::default());
    for number in 0..100 {
        assert_eq!(port.receives(number, &format!("S 0:0(0) <{OFFER}>")), [format!("S. 0:0(0) ack 1 <{OFFER}>")]);
    }
    assert_eq!((port.listener.half_open(), port.listener.waiting()), (100, 0));
    for number in (0..100).rev() {
        assert_eq!(port.receives(number, ". 1:301(300) ack 1"), [". 1:1(0) ack 301"]);
        assert_eq!(port.opened[&number].taken.stream, 0..300);
        assert_eq!(port.connection(number).poll_event(), Some(Event::Established));
    }
    assert_eq!(port.accepts(), (0..100).rev().collect::<Vec<_>>());
    assert_eq!(port.listener.half_open(), 0);
}

/// RFC 6528: neither the same for two peers nor for one at two times.
#[test]
fn sequence_numbers_differ_by_peer_secret_and_time() {
    let mut numbers = Vec::new();
    for (secret, millis, number) in [([7; 16], 0, 1), ([7; 16], 0, 2), ([7; 16], 5000, 1), ([8; 16], 0, 1)] {
        let mut listener = Listener::new(&plain(), ListenConfig::default(), secret, SeedTree::new(1));
        let syn = notation::read("S 0:0(0)", PEER, SeqNum(0), 64_000);
        let cx = &mut Cx { now: Instant::ZERO + Duration::from_millis(millis), trace: &mut () };
        let Response::Answer(answer) = listener.on_segment(cx, &peer(number), &syn) else { panic!("an answer") };
        numbers.push(answer.seq.0);
    }
    // 5 s are 1,250,000 ticks of 4 µs.
    assert_eq!(numbers[2].wrapping_sub(numbers[0]), 1_250_000);
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 4);
}

/// RFC 6298 (2.1), (5.5), and Linux's `tcp_synack_retries`.
#[test]
fn a_syn_ack_is_retransmitted_after_1_2_4_8_16_s_and_then_the_handshake_is_aborted() {
    let mut port = Port::new(&plain(), ListenConfig::default());
    port.receives(3, &format!("S 0:0(0) <{OFFER}>"));
    for second in [1, 3, 7, 15, 31] {
        assert_eq!(port.listener.poll_timeout(), Some(Instant::ZERO + Duration::from_secs(second)));
        assert_eq!(port.at(second * 1000 - 1).repeats(), [""; 0]);
        assert_eq!(port.at(second * 1000).repeats(), [format!("S. 0:0(0) ack 1 <{OFFER}>")]);
    }
    assert_eq!(port.at(63_000).repeats(), [""; 0]);
    assert_eq!((port.listener.half_open(), port.listener.poll_timeout()), (0, None));
    assert_eq!(port.listener.statistics().timed_out, 1);
    assert_eq!(port.receives(3, ". 1:1(0) ack 1"), ["R 1:1(0)"]);
}

/// RFC 5681 §3.1, RFC 6298 (5.7), as for a connection that listens itself.
#[test]
fn after_a_lost_answer_the_connection_starts_with_one_segment_and_3_s() {
    let mut port = Port::new(&plain(), ListenConfig::default());
    port.receives(1, &format!("S 0:0(0) <{OFFER}>"));
    port.at(1000).repeats();
    port.at(1100).receives(1, ". 1:1(0) ack 1");
    assert_eq!((port.connection(1).cwnd(), port.connection(1).timer().timeout), (1.0, Duration::from_secs(3)));
}

#[test]
fn the_round_trip_of_the_answer_is_the_first_sample_unless_the_answer_went_twice() {
    for (is_repeated, sample) in [(false, Some(Duration::from_millis(250))), (true, None)] {
        let mut port = Port::new(&plain(), ListenConfig::default());
        port.receives(1, &format!("S 0:0(0) <{OFFER}>"));
        if is_repeated {
            assert_eq!(port.at(50).receives(1, &format!("S 0:0(0) <{OFFER}>")), [format!("S. 0:0(0) ack 1 <{OFFER}>")]);
        }
        port.at(250).receives(1, ". 1:1(0) ack 1");
        assert_eq!(port.connection(1).timer().smoothed, sample);
        assert!((port.connection(1).cwnd() - 4.0).abs() < 1e-9, "a SYN that came twice is no loss");
    }
}

#[test]
fn a_repeated_syn_makes_no_second_handshake() {
    let mut port = Port::new(&plain(), ListenConfig::default());
    for _ in 0..10 {
        assert_eq!(port.receives(1, &format!("S 0:0(0) <{OFFER}>")), [format!("S. 0:0(0) ack 1 <{OFFER}>")]);
    }
    assert_eq!(port.listener.half_open(), 1);
}

/// A peer that starts anew with the same port resets the old handshake by itself (RFC 9293 §3.5.1, figure 9); one who only
/// guesses its addresses changes nothing.
#[test]
fn another_syn_of_the_same_peer_is_answered_as_the_first_and_its_reset_makes_room() {
    let mut port = Port::new(&plain(), ListenConfig::default());
    port.receives(1, &format!("S 0:0(0) <{OFFER}>"));
    assert_eq!(port.receives(1, &format!("S 9000:9000(0) <{OFFER}>")), [format!("S. 0:0(0) ack 1 <{OFFER}>")]);
    port.receives(1, "R 1:1(0)");
    assert_eq!((port.listener.half_open(), port.listener.statistics().resets), (0, 1));
    assert_eq!(port.receives(1, &format!("S 9000:9000(0) <{OFFER}>")), [format!("S. 0:0(0) ack 9001 <{OFFER}>")]);
}

/// RFC 5961 §3.2.
#[test]
fn a_reset_beside_the_expected_number_ends_no_handshake() {
    let mut port = Port::new(&plain(), ListenConfig::default());
    port.receives(1, &format!("S 0:0(0) <{OFFER}>"));
    for reset in ["R 0:0(0)", "R 2:2(0)", "R. 4000:4000(0) ack 1"] {
        assert_eq!(port.receives(1, reset), [""; 0]);
    }
    assert_eq!((port.listener.half_open(), port.listener.statistics().malformed), (1, 3));
    assert_eq!(port.receives(1, ". 1:1(0) ack 1"), [""; 0]);
    assert!(port.opened.contains_key(&1));
}

#[test]
fn a_syn_with_fin_is_ignored_and_the_data_of_a_syn_are_not_taken() {
    let mut port = Port::new(&plain(), ListenConfig::default());
    assert_eq!(port.receives(1, "SF 0:0(0)"), [""; 0]);
    assert_eq!(port.listener.half_open(), 0);
    assert_eq!(port.receives(1, &format!("S 0:40(40) <{OFFER}>")), [format!("S. 0:0(0) ack 1 <{OFFER}>")]);
    assert_eq!(port.receives(1, ". 1:41(40) ack 1"), [". 1:1(0) ack 41"]);
}

/// RFC 9293 §3.10.7.1 and §3.10.7.2.
#[test]
fn unknown_peers_are_reset_as_in_the_rfc_and_resets_are_not_answered() {
    let mut port = Port::new(&plain(), ListenConfig::default());
    assert_eq!(port.receives(1, ". 7:7(0) ack 99"), ["R 99:99(0)"]);
    assert_eq!(port.receives(1, "S. 7:7(0) ack 99"), ["R 99:99(0)"]);
    assert_eq!(port.receives(1, "R 7:7(0)"), [""; 0]);
    assert_eq!(port.listener.statistics().stray_acks, 2);
    for (text, answer) in [
        ("S 7:17(10)", Some("R. 0:0(0) ack 18")),
        ("F 7:7(0)", Some("R. 0:0(0) ack 8")),
        ("F. 7:7(0) ack 3", Some("R 3:3(0)")),
        ("R. 7:7(0) ack 3", None),
    ] {
        let reset = reject(&notation::read(text, PEER, SeqNum(0), 0));
        assert_eq!(reset.map(|reset| notation::write(&reset, SeqNum(0), PEER, Some(0))).as_deref(), answer, "{text}");
    }
}

/// RFC 9293 §3.10.7.4, fifth: an ACK of what was never sent is reset; the handshake goes on.
#[test]
fn a_wrong_ack_does_not_open_and_one_outside_the_window_is_answered_by_an_ack() {
    let mut port = Port::new(&plain(), ListenConfig::default());
    port.receives(1, &format!("S 0:0(0) <{OFFER}>"));
    assert_eq!(port.receives(1, ". 1:1(0) ack 2"), ["R 2:2(0)"]);
    assert_eq!(port.receives(1, ". 90000:90010(10) ack 1"), [". 1:1(0) ack 1"]);
    assert_eq!(port.receives(1, ". 1:1(0) ack 1"), [""; 0]);
    assert!(port.opened.contains_key(&1));
}

/// As Linux: what the application does not accept in time is not opened; peers repeat their SYN, or their data.
#[test]
fn a_full_backlog_drops_syns_and_last_acks_until_the_application_accepts() {
    let mut port = Port::new(&plain(), ListenConfig { backlog: 2, ..ListenConfig::default() });
    port.receives(9, &format!("S 0:0(0) <{OFFER}>"));
    assert!(port.opens(1) && port.opens(2));
    assert_eq!(port.receives(9, ". 1:1(0) ack 1"), [""; 0]);
    assert_eq!(port.receives(3, &format!("S 0:0(0) <{OFFER}>")), [""; 0]);
    assert_eq!((port.listener.statistics().overflows, port.listener.half_open()), (2, 1));
    assert_eq!(port.at(1000).repeats(), [format!("S. 0:0(0) ack 1 <{OFFER}>")], "so that the peer acknowledges again");
    assert_eq!(port.accepts(), [1, 2]);
    assert_eq!(port.receives(9, ". 1:301(300) ack 1"), [". 1:1(0) ack 301"]);
    assert!(port.opens(3));
}

/// RFC 4987 §3.3.
#[test]
fn without_cookies_the_oldest_half_open_handshake_makes_room() {
    let mut port = Port::new(&plain(), small(3, SynCookies::Never));
    for number in 1..=4 {
        port.receives(number, &format!("S 0:0(0) <{OFFER}>"));
    }
    assert_eq!((port.listener.half_open(), port.listener.statistics().evicted), (3, 1));
    assert_eq!(port.receives(1, ". 1:1(0) ack 1"), ["R 1:1(0)"], "the peer is told");
    assert_eq!(port.receives(2, ". 1:1(0) ack 1"), [""; 0]);
    assert!(port.opened.contains_key(&2));
}

/// RFC 4987 §3.6.
#[test]
fn a_cookie_opens_a_connection_of_which_nothing_was_kept() {
    let mut port = Port::new(&plain(), small(0, SynCookies::WhenFull));
    assert_eq!(port.receives(1, "S 0:0(0) <mss 1447,sackOK,wscale 3>"), ["S. 0:0(0) ack 1 <mss 1000>"]);
    assert_eq!((port.listener.half_open(), port.listener.poll_timeout()), (0, None));
    port.at(300);
    assert_eq!(port.receives(1, ". 1:301(300) ack 1"), [". 1:1(0) ack 301"]);
    assert_eq!(port.connection(1).state(), RfcState::Established);
    assert_eq!(port.connection(1).timer().smoothed, None, "nobody knows when the answer left");
    assert!((port.connection(1).cwnd() - 4.0).abs() < 1e-9);
    assert_eq!(port.listener.statistics().cookies_accepted, 1);
}

#[test]
fn a_cookie_encodes_the_next_smaller_size_of_a_table() {
    let config = plain().with_mss(9000);
    for (advertised, kept) in [(Some(88), 88), (Some(700), 536), (None, 536), (Some(1459), 1452), (Some(9000), 1460)] {
        let mut port = Port::new(&config, small(0, SynCookies::Always));
        let option = advertised.map_or(String::new(), |mss| format!(" <mss {mss}>"));
        port.receives(1, &format!("S 0:0(0){option}"));
        port.receives(1, ". 1:1(0) ack 1");
        assert_eq!(port.connection(1).effective_mss(), kept, "{advertised:?}");
    }
    let mut port = Port::new(&config, small(0, SynCookies::Always));
    assert_eq!(port.receives(1, "S 0:0(0) <mss 87>"), [""; 0], "too small for the table");
}

/// As Linux: the six lowest bits of the timestamp.
#[test]
fn a_cookies_timestamp_carries_window_scale_sack_and_ecn() {
    let config = Config::rfc().with_ecn(earlybird_tcp::EcnMode::Classic);
    for (options, flags, shift) in
        [("TS 700/0,sackOK,wscale 7", "SEW", 7), ("TS 700/0", "S", 0), ("TS 700/0,wscale 15", "S", 14)]
    {
        let mut port = Port::new(&config, small(0, SynCookies::Always));
        port.at(5_000);
        let syn = notation::read(&format!("{flags} 0:0(0) <mss 1000,{options}>"), PEER, SeqNum(0), 64_000);
        let cx = &mut Cx { now: port.now, trace: &mut () };
        let Response::Answer(answer) = port.listener.on_segment(cx, &peer(1), &syn) else { panic!("an answer") };
        assert_eq!(answer.options.sack_permitted, options.contains("sackOK"));
        assert_eq!(answer.options.window_scale.is_some(), options.contains("wscale"));
        assert_eq!(answer.flags.contains(Flags::ECE), flags.contains('E'));
        let advertised = answer.options.timestamps.expect("timestamps").value;
        port.origins.insert(1, answer.seq);
        port.at(5_100).receives(1, &format!(". 1:1(0) ack 1 win 100 <TS 800/{advertised}>"));
        let connection = port.connection(1);
        connection.write(1_000_000).expect("it is open");
        // With a window of 100 only a scaled one lets a full segment go: 100·2^7 = 12,800 bytes.
        let leaves = (100_u64 << shift) >= 536;
        let cx = &mut Cx { now: Instant::ZERO + Duration::from_millis(5_100), trace: &mut () };
        let sent = connection.poll_transmit(cx).map(|transmit| transmit.segment).filter(|segment| segment.len > 500);
        assert_eq!(sent.is_some(), leaves, "{options}");
        if let Some(segment) = sent {
            let stamp = segment.options.timestamps.expect("timestamps").value;
            assert!(stamp.wrapping_sub(advertised) < 200, "timestamps go on from the cookie's");
            assert_eq!(segment.ecn.is_capable(), flags.contains('E'));
        }
    }
}

/// The symptom: while 1,500 spoofed SYNs arrived each second, a new caller lost a third of its units, as without timestamps a cookie
/// kept neither SACK nor SNACK.
#[test]
fn a_flood_of_syns_does_not_remove_real_time_mode() {
    let config = Config::earlybird_rt(Duration::from_millis(120)).with_timestamps(false);
    let mut port = Port::new(&config, small(0, SynCookies::WhenFull));
    let [answer] = port.receives(1, "SEW 0:0(0) <mss 1452,sackOK,wscale 7,snack>").try_into().expect("one answer");
    assert!(["sackOK", "wscale", "snack"].iter().all(|option| answer.contains(option)), "{answer}");
    // The ACK and the first frames were lost: what follows them has another number than the cookie was made for.
    for lost in [1, 7, 20, 100, 1000] {
        assert_eq!(port.receives(1, &format!(". {}:{}(100) ack 1", 1 + lost, 101 + lost)).len(), 1, "a reset");
    }
    port.at(100).receives(1, ". 1:1(0) ack 1 win 100");
    assert_eq!((port.listener.half_open(), port.listener.statistics().cookies_accepted), (0, 1));
    let behind = notation::read(". 101:201(100) ack 1", PEER, port.origins[&1], 100);
    let cx = &mut Cx { now: port.now, trace: &mut () };
    port.connection(1).on_segment(cx, &behind);
    let frame = port.connection(1).read_frame(cx).map(|frame| frame.position);
    assert_eq!(frame, Some(100), "the reader skips the hole");
    let acks = port.transmits(1).concat();
    assert!(acks.contains("snack 1 1:1"), "{acks}");
}

/// The count in it goes on every 64 s; one and the previous one are believed.
#[test]
fn a_cookie_is_believed_for_64_s_at_least_and_for_128_s_at_most() {
    for (millis, is_believed) in [(63_999, true), (64_000, true), (127_900, true), (128_100, false), (3_600_000, false)]
    {
        let mut port = Port::new(&plain(), small(0, SynCookies::Always));
        port.receives(1, "S 0:0(0)");
        port.at(millis);
        // Cookies for others go on being sent.
        port.receives(2, "S 0:0(0)");
        let answers = port.receives(1, ". 1:1(0) ack 1");
        assert_eq!(port.opened.contains_key(&1), is_believed, "{millis}");
        assert_eq!(answers.is_empty(), is_believed, "who is refused is told");
    }
}

#[test]
fn a_cookie_is_good_for_its_peer_and_its_port_only_and_only_where_cookies_were_sent() {
    let mut port = Port::new(&plain(), small(0, SynCookies::Always));
    port.receives(1, "S 0:0(0)");
    let cookie = port.origins[&1];
    port.origins.insert(2, cookie);
    assert_eq!(port.receives(2, ". 1:1(0) ack 1"), ["R 1:1(0)"]);
    let mut other = Port::new(&plain(), small(0, SynCookies::Always));
    other.origins.insert(1, cookie);
    assert_eq!(other.receives(1, ". 1:1(0) ack 1"), ["R 1:1(0)"]);
    other.receives(2, "S 0:0(0)");
    other.receives(1, ". 1:1(0) ack 1");
    assert!(other.opened.contains_key(&1), "the secret is the same");
}

/// RFC 4987 §2: 10⁵ SYNs from 10⁵ peers that never answer.
#[test]
fn a_flood_of_100000_syns_keeps_memory_bounded_and_a_genuine_client_gets_in() {
    for syn_cookies in [SynCookies::WhenFull, SynCookies::Never] {
        let settings = ListenConfig { half_open: 256, syn_cookies, ..ListenConfig::default() };
        let mut port = Port::new(&plain(), settings);
        for number in 0..100_000 {
            port.now = Instant::ZERO + Duration::from_micros(u64::from(number) * 10);
            let syn = Segment { seq: SeqNum(number), flags: Flags::SYN, ..Segment::default() };
            let cx = &mut Cx { now: port.now, trace: &mut () };
            assert!(matches!(port.listener.on_segment(cx, &peer(1000 + number), &syn), Response::Answer(_)));
            assert!(port.listener.half_open() <= 256);
            // With cookies a client may be as slow as it likes; without, it must be faster than 256 others.
            if number % 10_000 == 0 {
                assert!(port.opens(number / 10_000), "a genuine client gets in, {syn_cookies:?}");
            }
        }
        assert_eq!(port.accepts(), (0..10).collect::<Vec<_>>());
        let bytes = port.listener.half_open() * Listener::HALF_OPEN_BYTES;
        assert!(bytes < 64_000, "{bytes} bytes for 256 handshakes");
    }
}

/// Whoever guesses has one chance in two million (eight sizes and two counts in 24 bits) with each ACK.
#[test]
fn a_flood_of_acks_with_bad_cookies_opens_nothing_and_keeps_nothing() {
    let mut port = Port::new(&plain(), small(0, SynCookies::Always));
    port.receives(1, "S 0:0(0)");
    for number in 0..50_000_u32 {
        let ack = Segment {
            seq: SeqNum(1),
            ack: SeqNum(number.wrapping_mul(2_654_435_761)),
            flags: Flags::ACK,
            ..Segment::default()
        };
        let cx = &mut Cx { now: port.now, trace: &mut () };
        assert!(matches!(port.listener.on_segment(cx, &peer(1000 + number), &ack), Response::Answer(_)));
    }
    assert_eq!((port.listener.waiting(), port.listener.half_open()), (0, 0));
    assert_eq!(port.listener.statistics().stray_acks, 50_000);
}

fn fast_open(max_pending: usize) -> FastOpenServer {
    FastOpenServer { key: [1; 16], backup_key: None, max_pending, needs_cookie: true }
}

fn fast(server: FastOpenServer) -> Port {
    Port::new(&plain(), ListenConfig { fast_open: Some(server), ..ListenConfig::default() })
}

fn hex(server: &FastOpenServer, number: u32) -> String {
    let cookie = server.cookie(&peer(number));
    format!("{:016x}", u64::from_be_bytes(cookie.as_slice().try_into().expect("eight bytes")))
}

/// RFC 7413 §4.1.1 and §3: asked for on one connection, used on the next; the application reads before the handshake ends.
#[test]
fn a_cookie_is_given_to_who_asks_and_opens_the_next_connection_with_data() {
    let server = fast_open(4);
    let cookie = hex(&server, 1);
    for kind in ["FO", "FOEXP"] {
        let mut port = fast(server);
        let answer = port.receives(1, &format!("S 0:0(0) <mss 1000,{kind}>"));
        assert_eq!(answer, [format!("S. 0:0(0) ack 1 <mss 1000,{kind} {cookie}>")]);
        assert_eq!((port.listener.half_open(), port.listener.waiting()), (1, 0));
        let answer = port.receives(2, &format!("S 0:300(300) <mss 1000,{kind} {}>", hex(&server, 2)));
        assert_eq!(answer, ["S. 0:0(0) ack 301 <mss 1000>"]);
        assert!(port.opened[&2].is_fast_open);
        assert_eq!(port.opened[&2].taken.stream, 0..300);
        assert_eq!(port.accepts(), [2]);
        assert_eq!(port.connection(2).read(1000), 300);
    }
}

/// RFC 7413 §4.2.2: the data of a SYN with a wrong cookie are dropped, and the right one goes back.
#[test]
fn a_wrong_cookie_makes_an_ordinary_handshake_and_brings_the_right_one() {
    let server = fast_open(4);
    let mut port = fast(server);
    let answer = port.receives(1, "S 0:300(300) <mss 1000,FO aaaaaaaaaaaaaaaa>");
    assert_eq!(answer, [format!("S. 0:0(0) ack 1 <mss 1000,FO {}>", hex(&server, 1))]);
    assert!(port.opened.is_empty());
    assert_eq!(port.at(1000).repeats(), ["S. 0:0(0) ack 1 <mss 1000>"], "what goes again has no cookie");
}

#[test]
fn a_cookie_of_another_host_is_wrong_and_one_of_another_port_of_the_same_is_right() {
    let server = fast_open(4);
    assert_eq!(hex(&server, 1), hex(&server, 2));
    assert_ne!(hex(&server, 1), hex(&server, 50_001));
}

/// RFC 7413 §4.1.2: keys change; cookies under the previous one are taken for a while, and exchanged.
#[test]
fn after_a_change_of_keys_an_old_cookie_is_taken_and_a_new_one_given() {
    let (old, new) = (fast_open(4), FastOpenServer { key: [2; 16], backup_key: Some([1; 16]), ..fast_open(4) });
    let mut port = fast(old);
    port.listener.set_fast_open(Some(new));
    let answer = port.receives(1, &format!("S 0:300(300) <mss 1000,FO {}>", hex(&old, 1)));
    assert_eq!(answer, [format!("S. 0:0(0) ack 301 <mss 1000,FO {}>", hex(&new, 1))]);
    port.listener.set_fast_open(Some(FastOpenServer { backup_key: None, ..new }));
    let answer = port.receives(2, &format!("S 0:300(300) <mss 1000,FO {}>", hex(&old, 2)));
    assert_eq!(answer, [format!("S. 0:0(0) ack 1 <mss 1000,FO {}>", hex(&new, 2))]);
}

/// RFC 7413 §5.1.
#[test]
fn beyond_the_limit_of_pending_requests_syns_are_ordinary_until_one_is_settled() {
    let server = fast_open(2);
    let mut port = fast(server);
    let syn = |number| format!("S 0:300(300) <mss 1000,FO {}>", hex(&server, number));
    for number in [1, 2] {
        assert_eq!(port.receives(number, &syn(number)), ["S. 0:0(0) ack 301 <mss 1000>"]);
    }
    assert_eq!(port.receives(3, &syn(3)), ["S. 0:0(0) ack 1 <mss 1000>"]);
    port.listener.on_settled(port.now, &peer(1), false);
    assert_eq!(port.receives(4, &syn(4)), ["S. 0:0(0) ack 301 <mss 1000>"]);
    // One that was reset counts for a minute more.
    port.listener.on_settled(port.now, &peer(2), true);
    assert_eq!(port.receives(5, &syn(5)), ["S. 0:0(0) ack 1 <mss 1000>"]);
    port.at(60_001);
    assert_eq!(port.receives(6, &syn(6)), ["S. 0:0(0) ack 301 <mss 1000>"]);
}

/// Linux: `net.ipv4.tcp_fastopen`, bit 0x200.
#[test]
fn where_no_cookie_is_needed_any_data_on_a_syn_are_taken() {
    let mut port = fast(FastOpenServer { needs_cookie: false, ..fast_open(4) });
    assert_eq!(port.receives(1, "S 0:1000(1000) <mss 1000>"), ["S. 0:0(0) ack 1001 <mss 1000>"]);
    assert_eq!(port.receives(2, "S 0:0(0) <mss 1000>"), ["S. 0:0(0) ack 1 <mss 1000>"]);
    assert_eq!(port.opened.len(), 1);
}

#[test]
fn a_listener_without_fast_open_ignores_cookies_and_requests() {
    let mut port = Port::new(&plain(), ListenConfig::default());
    for (number, option) in [(1, "FO"), (2, "FO aaaaaaaa")] {
        assert_eq!(port.receives(number, &format!("S 0:10(10) <mss 1000,{option}>")), ["S. 0:0(0) ack 1 <mss 1000>"]);
    }
}

/// Known from a Linux server with the key a0bf63f7-ed803d81-cd641d30-cebc4a90, so that both can stand behind one address.
#[test]
fn a_cookie_is_the_one_that_linux_gives() {
    let key = [0xa0bf_63f7_u32, 0xed80_3d81, 0xcd64_1d30, 0xcebc_4a90].map(u32::to_le_bytes).concat();
    let server = FastOpenServer { key: key.try_into().expect("16 bytes"), ..fast_open(1) };
    let host = |last| Ipv4Addr::new(192, 168, 0, last).into();
    let client = |last| Ipv4Addr::new(10, 248, 0, last).into();
    for (source, destination, cookie) in [
        (client(2), host(2), 0x00ab_aaab_e8e9_54c2_u64),
        (client(3), host(2), 0x1313_a2da_994a_0951),
        (client(3), host(3), 0x76d2_c1c5_30f5_1f79),
    ] {
        let addresses = Addresses { source, destination, ..peer(1) };
        assert_eq!(server.cookie(&addresses).as_slice(), cookie.to_be_bytes());
    }
}
