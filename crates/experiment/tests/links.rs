//! Which link is the bottleneck, what links drop and why, how long packets wait, and what traces say of drops.

mod common;

use common::{real, run_once, run_text, scenario_of, summary, texts, whole};
use earlybird_experiment::{Outputs, Report, Value, network_emulation, run};
use earlybird_sim::{LinkId, RateChanges};
use rstest::rstest;
use std::path::Path;

/// Two files over a fast link, a slow one that some packets get lost on, and one that hardly anybody uses.
const CHAIN: &str = r#"
duration = "20s"
endpoint = { mss = 1000, window = 200 }
[[network.links]]
from = "server"
to = "router"
rate = "100Mb/s"
delay = "5ms"
loss = [{ bernoulli = { probability = 0.001 } }]
[[network.links]]
from = "router"
to = "viewer"
rate = "5Mb/s"
delay = "20ms"
queue = { packets = 20 }
[[network.links]]
from = "viewer"
to = "attic"
rate = "1kb/s"
delay = "20ms"
[[flows]]
name = "file"
count = 2
from = "server"
to = "viewer"
application = { bulk = {} }
"#;

fn value(report: &Report, key: &str) -> Option<Value> {
    report.summary.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
}

#[test]
fn the_first_link_was_the_bottleneck_whatever_its_rate() {
    let report = run_text(CHAIN);
    assert_eq!(
        value(&report, "bottleneck"),
        Some(Value::String("router-viewer".to_owned())),
        "nobody goes to the attic"
    );
    let Some(Value::Float(drop_rate)) = value(&report, "drop_rate") else { panic!("no drops") };
    assert!(drop_rate > 0.0);
    let named = CHAIN.replace("[[flows]]", "[measure]\nbottleneck = \"server-router\"\n[[flows]]");
    assert_eq!(value(&run_text(&named), "bottleneck"), Some(Value::String("server-router".to_owned())));
}

#[test]
fn a_dumbbell_whose_data_go_left_was_measured_on_the_ack_path() {
    let reverse_path = |from: &str, to: &str| {
        let text = format!(
            r#"
duration = "5s"
network.dumbbell = {{ bottleneck = {{ rate = "5Mb/s", delay = "5ms" }}, access = {{ rate = "10Mb/s", delay = "1ms" }} }}
flows = [{{ name = "file", from = "{from}", to = "{to}", application = {{ bulk = {{ bytes = 100000 }} }} }}]
"#
        );
        value(&run_text(&text), "bottleneck")
    };
    assert_eq!(reverse_path("right", "left"), Some(Value::String("right-left".to_owned())));
    assert_eq!(reverse_path("left", "right"), Some(Value::String("left-right".to_owned())));
}

#[test]
fn losses_at_a_link_that_is_not_the_bottleneck_were_invisible() {
    let report = run_text(CHAIN);
    let [links, flows, causes] = ["link", "flow", "cause"].map(|name| texts(&report, "drops", name));
    let packets = whole(&report, "drops", "data_packets");
    let rows = || (0..packets.len()).map(|row| (links[row].as_str(), flows[row].as_str(), causes[row].as_str()));
    for flow in ["file0", "file1"] {
        assert!(rows().any(|row| row == ("server-router", flow, "loss")));
        assert!(rows().any(|row| row == ("router-viewer", flow, "queue")));
    }
    assert!(rows().all(|(link, _, cause)| (link == "server-router") == (cause == "loss")));
    let sum =
        |cause: &str| rows().zip(&packets).filter(|((.., why), _)| *why == cause).map(|(_, count)| count).sum::<i64>();
    let of_flows = |name: &str| whole(&report, "flows", name).into_iter().sum::<i64>();
    assert_eq!((of_flows("random_losses"), of_flows("queue_drops")), (sum("loss"), sum("queue")));
    assert_eq!(value(&report, "dropped_elsewhere"), Some(Value::Integer(sum("loss").cast_unsigned())));
}

#[test]
fn packets_that_never_waited_shortened_the_mean_wait() {
    // Twice what the link sends: every second packet finds the queue full.
    let text = r#"
duration = "10s"
endpoint = { transport = "udp", mss = 1000 }
[[network.links]]
from = "a"
to = "b"
rate = "1Mb/s"
delay = "1ms"
queue = { packets = 10 }
[[flows]]
name = "camera"
from = "a"
to = "b"
application = { cbr = { rate = "2Mb/s", packet = 1000 } }
"#;
    let report = run_text(text);
    let wait = real(&report, "links", "mean_queue_delay_ms")[0];
    // Ten packets of 1028 bytes stand before nearly every one that is taken.
    let ten = 10.0 * 1028.0 * 8.0 / 1e3;
    assert!((0.8 * ten..ten).contains(&wait), "{wait} ms, not {ten}");
    let dropping_heads = run_text(&text.replace("packets = 10", "head-drop = 10"));
    let wait = real(&dropping_heads, "links", "mean_queue_delay_ms")[0];
    assert!(wait < 0.7 * ten, "{wait} ms: what is sent has waited for the packets behind the dropped ones");
}

/// A camera of twice what the first link sends; what that lets through is half of what the second one sends.
const FLOOD: &str = r#"
duration = "10s"
endpoint = { transport = "udp", mss = 1000 }
[[network.links]]
from = "a"
to = "b"
rate = "1Mb/s"
delay = "1ms"
queue = { packets = 1000000 }
[[network.links]]
from = "b"
to = "c"
rate = "2Mb/s"
delay = "1ms"
[[flows]]
name = "camera"
from = "a"
to = "c"
application = { cbr = { rate = "2Mb/s", packet = 1000 } }
"#;

#[rstest]
#[case::plain("", "")]
#[case::steps("", "rate-steps = [{ at = \"3s\", rate = \"1400kb/s\" }, { at = \"6s\", rate = \"700kb/s\" }]")]
#[case::trace("rate = \"1Mb/s\"", "trace = [7, 9, 24, 48]")]
#[case::head_drop("{ packets = 1000000 }", "{ head-drop = 1000000 }")]
#[case::red("{ packets = 1000000 }", "{ red = {} }")]
#[case::codel("{ packets = 1000000 }", "{ codel = {} }")]
#[case::pie("{ packets = 1000000 }", "{ pie = {} }")]
#[case::fq_codel("{ packets = 1000000 }", "{ fq-codel = {} }")]
#[case::cake("{ packets = 1000000 }", "{ cake = {} }")]
fn a_link_with_a_queue_at_the_end_sent_more_than_it_can(#[case] what: &str, #[case] instead: &str) {
    let text = if what.is_empty() {
        FLOOD.replace("delay = \"1ms\"\nqueue", &format!("{instead}\ndelay = \"1ms\"\nqueue"))
    } else {
        FLOOD.replacen(what, instead, 1)
    };
    let report = run_text(&text);
    let names = texts(&report, "links", "link");
    let used = |name: &str| {
        let row = names.iter().position(|link| link == name).expect("a link");
        real(&report, "links", "utilisation")[row]
    };
    // The second link begins when the first has sent a packet, which takes 8.2 ms. Times are whole nanoseconds. A packet
    // that the first one sent before the measured interval of 9 s may cross the second one in it.
    let packet = 1028.0 * 8.0 / (2e6 * 9.0);
    for (link, least, most) in [("a-b", 0.998, 1.0), ("b-c", 0.498, 0.5 + packet)] {
        assert!((least..=most + 1e-9).contains(&used(link)), "{link}: {}", used(link));
    }
}

#[test]
fn rows_of_drops_had_the_window_of_an_earlier_time() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("traces-of-drops");
    std::fs::create_dir_all(&folder).expect("a folder");
    let trace = folder.join("trace.csv");
    let changes = [
        ("network.links.0.delay", "5ms"),
        ("network.links.1.delay", "50ms"),
        ("endpoint.mss", "500"),
        ("drops", "[3, 4, 5, 6, 7, 8]"),
    ];
    let scenario = scenario_of(include_str!("../../../scenarios/fall-floyd-1996.toml"), &changes);
    let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
    run_once(&scenario, &outputs);
    let lines = std::fs::read_to_string(trace).expect("a trace");
    let rows: Vec<Vec<&str>> = lines.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let drops: Vec<_> = rows.windows(2).filter(|pair| pair[1][1] == "drp").collect();
    assert!(drops.len() >= 6, "{lines}");
    for pair in drops {
        assert_eq!(pair[0][3..], pair[1][3..], "{pair:?}");
    }
}

/// One file, its default endpoint, and a queue that slow start fills twice over.
const LONE_FILE: &str = r#"
duration = "20s"
endpoint = { transport = "sack" }
[[network.links]]
from = "server"
to = "viewer"
rate = "5Mb/s"
delay = "20ms"
queue = { packets = 30 }
[[flows]]
name = "file"
from = "server"
to = "viewer"
application = { bulk = {} }
"#;

#[test]
fn a_file_over_an_empty_link_lost_nine_packets_in_ten() {
    for transport in ["sack", "cubic", "cubic-er", "cubic-rack", "prague-rack", "newreno", "pert"] {
        let report = run_text(&LONE_FILE.replace("sack", transport));
        let (dropped, used) = (summary(&report, "drop_rate"), summary(&report, "utilisation"));
        assert!(dropped < 0.02 && used > 0.95, "{transport}: {dropped} lost, {used} used");
    }
}

const FIRST_LINK: &str = r#"
[[network.links]]
from = "server"
to = "router"
rate = "12Mb/s"
delay = "10ms"
[[network.links]]
from = "router"
"#;

#[test]
fn a_run_behind_a_link_of_12_megabits_never_ended() {
    let link = "\n[[network.links]]\nfrom = \"server\"\n";
    let behind = LONE_FILE.replace(link, FIRST_LINK).replace("20s", "2s");
    assert!(behind.contains("router"));
    for rate in ["12Mb/s", "7Mb/s", "11Mb/s", "123457b/s"] {
        for queue in
            ["{ codel = {} }", "{ pie = {} }", "{ red = {} }", "{ fq-codel = {} }", "{ cake = {} }", "{ dualpi2 = {} }"]
        {
            let report = run_text(&behind.replace("12Mb/s", rate).replace("{ packets = 30 }", queue));
            assert!(summary(&report, "utilisation") > 0.2, "{rate}, {queue}");
        }
    }
}

/// Ten seconds with a packet each millisecond, then ten with one each 10 ms; the way back has half as many, in half the time.
fn with_traces(start: &str) -> String {
    let spell = |from: u64, step: u64| (from + step..=from + 10_000).step_by(step as usize);
    let there: Vec<u64> = spell(0, 1).chain(spell(10_000, 10)).collect();
    let back: Vec<u64> = there.iter().map(|at| at / 2).collect();
    format!(
        r#"
duration = "5s"
measure = {{ warm-up = "0s" }}
endpoint = {{ mss = 1000, window = 200 }}
[[network.links]]
from = "server"
to = "phone"
trace = {there:?}
{start}
delay = "5ms"
queue = {{ packets = 50 }}
loss = [{{ bernoulli = {{ probability = 0.01 }} }}]
reverse = {{ trace = {back:?}, delay = "5ms", {start} }}
[[flows]]
name = "file"
from = "server"
to = "phone"
start = {{ uniform = ["0s", "1s"] }}
application = {{ bulk = {{}} }}
"#
    )
}

/// Returns the seconds of the traces there and back at which the run of a seed begins.
fn starts(seed: u64) -> [f64; 2] {
    let network = scenario_of(&with_traces(r#"trace-start = "random""#), &[]).network;
    let network = network_emulation(&network, seed).expect("a network").network;
    [0, 1].map(|link| match &network.link(LinkId(link)).settings().changes {
        Some(RateChanges::Opportunities { start, .. }) => start.as_secs_f64(),
        other => panic!("{other:?}"),
    })
}

#[test]
fn both_directions_begin_at_the_same_share_of_their_traces_which_the_seed_draws() {
    let all: Vec<_> = (1..=200).map(starts).collect();
    assert!(all.iter().all(|[there, back]| (there / 2.0 - back).abs() < 1e-6));
    let late = all.iter().filter(|[there, _]| *there >= 10.0).count();
    assert!((70..130).contains(&late), "{late} of 200 in the second half");
    assert_eq!(starts(7).map(f64::to_bits), starts(7).map(f64::to_bits));
}

#[test]
fn runs_began_at_the_start_of_a_trace_whatever_their_seed() {
    let run_of = |start: &str, seed| {
        let scenario = scenario_of(&with_traces(start), &[]);
        run(&scenario, seed, &Outputs::default(), &mut |_| true).expect("a run")
    };
    let random = [1, 2].map(|seed| run_of(r#"trace-start = "random""#, seed));
    assert_ne!(value(&random[0], "bottleneck_packets"), value(&random[1], "bottleneck_packets"));
    assert_eq!(run_of("", 1).summary, run_of(r#"trace-start = { at = "0s" }"#, 1).summary);
    // Draws of the seed for other things stay the same.
    let begin = |report: &Report| real(report, "flows", "start_s");
    assert_eq!(begin(&random[0]), begin(&run_of("", 1)));
}
