//! The real-time mode, and clients.

use crate::{CHAIN, message};
use earlybird_scenario::resolve;
use rstest::rstest;

#[rstest]
#[case(
    "flows.clip.client={ deadline = { playback-delay = \"0s\" } }",
    "flows.clip.client.deadline.playback-delay: `0s` is no time at all; allowed: a duration above 0s."
)]
#[case(
    "flows.clip.client={ deadline = { adaptive = { least = \"2s\" } } }",
    "flows.clip.client.deadline.adaptive.least: `2s` is above the playback delay; allowed: a duration up to 250ms."
)]
#[case(
    "flows.clip.client={ rebuffer = { resume = 0 } }",
    "flows.clip.client.rebuffer.resume: `0` is too small; allowed: a whole number of at least 1. hint: Units that must be buffered before playback resumes after a stall (default 1)."
)]
#[case(
    "flows.clip.endpoint={ real-time = { delivery = \"in-order\" } }",
    "flows.clip.endpoint.real-time: is read by transports of the real-time mode only; allowed: nothing with this transport. hint: `flows.clip.transport = \"mtcp\"` has this mode; every policy of it can be changed."
)]
#[case("endpoint={ real-time = { delivery = { skip-at-deadline = \"0ms\" } } }", "")]
#[case(
    "endpoint={ real-time = { backlog = { discard-past-deadline = \"1s\" }, send-limit = \"unlimited\" } }",
    "endpoint.real-time.send-limit: has no effect where only age decides; allowed: nothing, or another `backlog`."
)]
#[case(
    "endpoint={ transport = \"mtcp\", real-time = { backlog = \"drop\" } }",
    "endpoint.real-time.backlog: `drop` is not one of the choices; allowed: block, discard-oldest, { discard-past-deadline = … }, { discard-hopeless = … }. hint: The treatment of old data that the sender still holds."
)]
fn real_time_modes_and_clients_that_make_no_sense(#[case] change: &str, #[case] expected: &str) {
    if expected.is_empty() {
        resolve(CHAIN, &[change.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())).unwrap()])
            .unwrap();
    } else {
        assert_eq!(message(CHAIN, change), expected);
    }
}

#[test]
fn the_real_time_mode_carries_frames_and_a_client_listens_to_media() {
    let bulk = CHAIN.replace("media = { times = [0, 0.5], sizes = [100, 200], length = 1 }", "bulk = {}");
    assert_eq!(
        message(&bulk, "flows.clip.transport=mtcp"),
        "flows.clip.application.bulk: has no frames, which mtcp carries; allowed: cbr, frames, media."
    );
    assert_eq!(
        message(&bulk, "flows.clip.client={ deadline = {} }"),
        "flows.clip.client: listens to media, which bulk is not; allowed: a client for an application of the kind cbr, frames or media."
    );
}
