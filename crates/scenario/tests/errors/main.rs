//! Every mistake gives one paragraph that names the key, the value, what is allowed, and a hint.

mod impairments;
mod keys;
mod parts;
mod real_time;
mod segments;
mod texts;
mod topologies;
mod transports;
mod values;

use earlybird_scenario::{Transports, canonical_json, resolve, schema};
use serde_json::Value;

const DUMBBELL: &str = include_str!("../../../../scenarios/dumbbell.toml");
const CHAIN: &str = r#"
duration = "10s"
parameters = { drops = [], rate = "8Mb/s" }
[[network.links]]
from = "a"
to = "b"
rate = "$rate"
delay = "0ms"
[[network.links]]
from = "b"
to = "c"
rate = "800kb/s"
delay = "100ms"
loss = [{ list = { packets = "$drops" } }]
[[flows]]
name = "clip"
from = "a"
to = "c"
application = { media = { times = [0, 0.5], sizes = [100, 200], length = 1 } }
"#;

const TIMES: &str = "a number with one of the units ns, us, ms, s, min, h, such as 26.7ms or 50s";
const RATES: &str = "a number above 0 with one of the units b/s, kb/s, Mb/s, Gb/s (bits, not bytes; also kbit/s or kbps), \
                     such as 300kb/s or 25Mb/s";
const SHARES: &str = "a number from 0 to 1, or in percent, such as 0.01 or 1%";
const QUEUES: &str = "unlimited, { packets = … }, { bytes = … }, { head-drop = … }, { red = … }, { codel = … }, { pie = … }, \
                      { fq-codel = … }, { cake = … }, { dualpi2 = … }";
const ROOT: &str = "backend, duration, endpoint, flows, measure, network, sweep, title";

/// Returns the message for a text with one override, `key=value`; none if it is empty.
fn message(text: &str, change: &str) -> String {
    let change = change.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    match resolve(text, change.as_slice()) {
        Ok(scenario) => panic!("no error: {}", canonical_json(&scenario)),
        Err(error) => error.to_string(),
    }
}

/// Puts the long lists in the place of their names in braces.
fn expand(message: &str) -> String {
    let lists = [("{TIMES}", TIMES), ("{RATES}", RATES), ("{SHARES}", SHARES), ("{ROOT}", ROOT), ("{QUEUES}", QUEUES)];
    let message = lists.iter().fold(message.to_owned(), |message, (name, list)| message.replace(name, list));
    message.replace("{ENDPOINT}", &endpoint_keys()).replace("{TRANSPORTS}", &transports())
}

fn endpoint_keys() -> String {
    let schema: Value = serde_json::from_str(&schema(&Transports::built_in())).expect("a schema is JSON");
    let mut keys: Vec<_> =
        schema["$defs"]["Endpoint"]["properties"].as_object().expect("a table").keys().cloned().collect();
    keys.sort();
    keys.join(", ")
}

fn transports() -> String {
    let names = Transports::built_in().names();
    let is_timed = |name: &&String| names.contains(&format!("{name}-fg"));
    let (timed, untimed): (Vec<_>, Vec<_>) = names.iter().filter(|name| !name.ends_with("-fg")).partition(is_timed);
    let [timed, untimed] = [timed, untimed].map(|part| part.into_iter().cloned().collect::<Vec<_>>().join(", "));
    format!("{timed}, each also with -fg; {untimed}")
}
