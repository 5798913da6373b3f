//! The limits of a flow: its window, its receiver, its application, or the network.

mod common;

use common::{real, run_text};

/// A stream or a file over 50 Mb/s with a round trip of 100 ms.
fn scenario(endpoint: &str, application: &str) -> String {
    format!(
        r#"
duration = "20s"
[endpoint]
{endpoint}
[[network.links]]
from = "server"
to = "viewer"
rate = "50Mb/s"
delay = "50ms"
queue = {{ packets = 400 }}
[[flows]]
name = "film"
from = "server"
to = "viewer"
application = {{ {application} }}
"#
    )
}

const FILM: &str = r#"cbr = { rate = "8Mb/s", packet = 40000 }"#;
const FILE: &str = "bulk = {}";

/// Settings of the endpoint, what it sends, and what limits that.
const CASES: [(&str, &str, &str); 6] = [
    ("window = 64\nmss = 1000", FILM, "limited_by_window"),
    ("receive-buffer = 60000\nwindow = 4000", FILM, "limited_by_receiver"),
    ("window = 4000", r#"cbr = { rate = "100kb/s", packet = 500 }"#, "limited_by_application"),
    ("window = 4000", FILE, "limited_by_network"),
    ("profile = \"linux\"", FILE, "limited_by_network"),
    ("profile = \"ns2\"\nwindow = 64", FILE, "limited_by_window"),
];

#[test]
fn the_limits_of_a_flow_were_not_reported() {
    for (endpoint, application, limit) in CASES {
        let report = run_text(&scenario(endpoint, application));
        let names =
            ["window", "receiver", "application", "network", "send_buffer"].map(|name| format!("limited_by_{name}"));
        let shares = names.clone().map(|name| real(&report, "flows", &name)[0]);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
        assert!(real(&report, "flows", limit)[0] > 0.9, "{endpoint}: {names:?}: {shares:?}");
    }
}

#[test]
fn a_film_of_8_megabits_on_an_empty_line_of_50_needed_11_seconds() {
    let startup_delay = |endpoint| real(&run_text(&scenario(endpoint, FILM)), "flows", "required_startup_delay_s")[0];
    assert!(startup_delay("window = 64\nmss = 1000") > 5.0);
    for endpoint in ["profile = \"rfc\"", "profile = \"linux\""] {
        let delay = startup_delay(endpoint);
        assert!(delay < 0.7, "{endpoint}: {delay} s");
    }
}

#[test]
fn the_shortest_round_trip_is_that_of_the_empty_path() {
    let report = run_text(&scenario("window = 4000", FILE));
    let rtt = real(&report, "flows", "min_rtt_ms")[0];
    assert!((100.0..101.0).contains(&rtt), "{rtt} ms");
}

/// A file over 1 Gb/s with a round trip of 200 ms, which holds 25 MB.
#[test]
fn six_mebibytes_of_window_left_three_quarters_of_a_long_fast_line_empty() {
    let throughput = |endpoint: &str| {
        let text = scenario(endpoint, FILE).replace("50Mb/s", "1Gb/s").replace("50ms", "100ms");
        real(&run_text(&text), "flows", "throughput_bps")[0]
    };
    for profile in ["rfc", "linux"] {
        let endpoint = format!("profile = \"{profile}\"\ntransport = \"bbr\"");
        let (open, named) = (throughput(&endpoint), throughput(&format!("{endpoint}\nwindow = 4344")));
        assert!(open > 1.5 * named, "{profile}: {open} b/s, {named} b/s with a window of 6 MiB");
    }
}
