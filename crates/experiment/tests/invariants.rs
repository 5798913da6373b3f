//! Invariants of every run: what was offered to a link was delivered, dropped or still waits, whatever the scenario.
//!
//! Debug builds check them at the end of each run (`src/invariants.rs`); the tests here draw scenarios for them.

#![expect(clippy::print_stdout, reason = "the scenario stands before a panic of the check")]

mod common;

use common::{report, run_once, run_text};
use earlybird_experiment::{Column, Outputs};
use earlybird_scenario::resolve;
use earlybird_units::{Random, SeedTree};

/// Scenarios drawn; `PROPTEST_CASES` asks for more.
const DRAWN: u64 = 150;

const QUEUES: [&str; 12] = [
    r#""unlimited""#,
    "{ packets = 1 }",
    "{ packets = 20 }",
    "{ bytes = 30000 }",
    "{ head-drop = 15 }",
    "{ red = {} }",
    "{ codel = { ecn = true } }",
    "{ pie = {} }",
    "{ fq-codel = {} }",
    "{ cake = {} }",
    "{ dualpi2 = {} }",
    "{ packets = 200 }",
];

const TRANSPORTS: [&str; 24] = [
    "tahoe",
    "reno",
    "newreno",
    "sack",
    "sack-er",
    "sack-rack",
    "vegas",
    "cubic",
    "cubic-rack",
    "pert",
    "pert-er",
    "bbr-rack",
    "copa-rack",
    "prague",
    "udp",
    "tfrc",
    "srt",
    "quic",
    "quic-streams",
    "quic-datagrams",
    "mtcp",
    "tcp-rtm",
    "hollywood",
    "earlybird-rt",
];

/// Applications that units and streams can carry; the first five have units.
const APPLICATIONS: [&str; 9] = [
    r#"{ cbr = { rate = "64kb/s", packet = 160 } }"#,
    r#"{ cbr = { rate = "1Mb/s", packet = 1000 } }"#,
    r#"{ cbr = { rate = "400kb/s", packet = 5000, packets = 20 } }"#,
    "{ media = { sizes = [9000, 1200, 1500], times = [0.0, 0.04, 0.08], length = 0.12 } }",
    r#"{ cbr = { rate = "300kb/s", packet = 1200 } }"#,
    "{ bulk = {} }",
    "{ bulk = { bytes = 100000 } }",
    "{ webtraf = { sessions = 3 } }",
    r#"{ segments = { ladder = ["200kb/s", "800kb/s"] } }"#,
];

const RATES: [&str; 4] = ["1Mb/s", "2Mb/s", "5Mb/s", "20Mb/s"];

fn choose<'a>(random: &mut Random, values: &[&'a str]) -> &'a str {
    values[random.below(values.len() as u64) as usize]
}

/// Returns a link of the chain with its way back.
fn link(random: &mut Random, hop: u64) -> String {
    let delay = choose(random, &["100us", "3ms", "40ms"]);
    let (rate, later) = (choose(random, &RATES), choose(random, &RATES));
    let back = format!(r#"reverse = {{ rate = "{later}", delay = "{delay}" }}"#);
    let kind = match random.below(7) {
        0 => format!(r#"rate = "{rate}"{}loss = [{{ bernoulli = {{ probability = 0.01 }} }}]"#, '\n'),
        1 => format!(r#"rate = "{rate}"{0}rate-steps = [{{ at = "1s", rate = "{later}" }}]{0}{back}"#, '\n'),
        2 => format!("trace = [3, 7, 8, 8, 15, 21, 30]\n{back}"),
        3 => format!(r#"rate = "{rate}"{}reorder = {{ probability = 0.02, delay = "5ms" }}"#, '\n'),
        4 => format!(r#"rate = "{rate}"{}duplicate = {{ probability = 0.02 }}"#, '\n'),
        _ => format!(r#"rate = "{rate}""#),
    };
    let queue = choose(random, &QUEUES);
    format!(
        "[[network.links]]\nfrom = \"n{hop}\"\nto = \"n{}\"\ndelay = \"{delay}\"\nqueue = {queue}\n{kind}\n",
        hop + 1
    )
}

/// Returns a group of flows over some of the links.
fn flow(random: &mut Random, number: u64, hops: u64) -> String {
    let (first, last) = (random.below(hops), 1 + random.below(hops));
    let (from, to) = if first < last { (first, last) } else { (0, hops) };
    let transport = choose(random, &TRANSPORTS);
    let is_tcp = TRANSPORTS.iter().position(|name| *name == transport) < Some(14);
    let application = choose(random, if is_tcp { &APPLICATIONS } else { &APPLICATIONS[..5] });
    let client = match random.below(3) {
        0 if application.contains("cbr") => "client = { rebuffer = {} }\n",
        1 if application.contains("cbr") => "client = { deadline = { playback-delay = \"200ms\" } }\n",
        _ => "",
    };
    let start = choose(random, &["0s", "300ms", "1500ms"]);
    format!(
        "[[flows]]\nname = \"f{number}x\"\nfrom = \"n{from}\"\nto = \"n{to}\"\ntransport = \"{transport}\"\n\
         application = {application}\nstart = {{ at = \"{start}\" }}\n{client}"
    )
}

/// Returns nodes in a row with a bottleneck from each to the next, and flows over some or all of them.
fn scenario(random: &mut Random) -> String {
    let hops = 1 + random.below(3);
    let bottleneck = random.below(hops);
    let warm_up = choose(random, &["0s", "700ms", "2s"]);
    let links: String = (0..hops).map(|hop| link(random, hop)).collect();
    let flows: String = (0..2 + random.below(3)).map(|number| flow(random, number, hops)).collect();
    format!(
        "duration = \"3s\"\nmeasure = {{ warm-up = \"{warm_up}\", bottleneck = \"n{bottleneck}-n{}\", series = \"10ms\" }}\n\
         {links}{flows}",
        bottleneck + 1
    )
}

#[test]
fn drawn_scenarios_keep_the_invariants() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(DRAWN);
    let mut refused = 0;
    for case in 0..cases {
        let text = scenario(&mut SeedTree::new(case).child("scenario").random());
        println!("case {case}:\n{text}");
        // Some transports have no use for some applications.
        match resolve(&text, &[]) {
            Ok(scenario) => _ = run_once(&scenario, &Outputs::default()),
            Err(error) => refused += u64::from(!error.problem.is_empty()),
        }
    }
    assert!(refused <= cases / 4, "{refused} of {cases} were refused");
}

#[test]
fn timeouts_of_a_connection_were_counted_twice_where_the_listener_gave_up_first() {
    let rate = [("network.dumbbell.bottleneck.rate", "7b/s")];
    let report = report("bench-transports.toml", &rate);
    let (_, flows) = report.tables.iter().find(|(name, _)| *name == "flows").expect("a table of every run");
    let Some((_, Column::Float(frozen))) = flows.columns.iter().find(|(name, _)| *name == "frozen_s") else { panic!() };
    assert!(frozen.iter().all(|frozen| *frozen < 300.0), "{frozen:?} of 300 s");
}

#[test]
fn timeouts_of_a_listener_were_listed_as_those_of_the_flow() {
    let link = r#"{ from = "a", to = "b", delay = "100us", queue = { packets = 1 }, rate = "1Mb/s", reorder = { probability = 0.02, delay = "5ms" } }"#;
    let flow = r#"from = "a", to = "b", application = { cbr = { rate = "64kb/s", packet = 160 } }"#;
    let report = run_text(&format!(
        r#"duration = "3s"
        network.links = [{link}]
        flows = [
            {{ name = "f0x", transport = "hollywood", {flow}, client = {{ rebuffer = {{}} }} }},
            {{ name = "f1x", transport = "earlybird-rt", {flow}, start = {{ at = "1500ms" }} }},
        ]"#
    ));
    let column = |table: &str, name: &str| {
        let (_, table) = report.tables.iter().find(|(one, _)| *one == table).expect("a table of every run");
        table.columns.iter().find(|(one, _)| *one == name).map(|(_, column)| column.clone()).expect("a column")
    };
    let (Column::Integer(counted), Column::Float(times)) = (column("flows", "rto_count"), column("timeouts", "time_s"))
    else {
        panic!("other types")
    };
    assert_eq!(usize::try_from(counted.iter().sum::<i64>()), Ok(times.len()));
}

#[test]
fn shipped_scenarios_keep_the_invariants() {
    for file in
        ["vbr-video", "cellular", "web-traffic", "l4s", "reordering", "obs-ingest", "adaptive-streaming", "audio-call"]
    {
        println!("{file}");
        report(&format!("{file}.toml"), &[("duration", "5s"), ("measure.warm-up", "1s")]);
    }
}
