//! From text to a scenario: parameters, variants, overrides, defaults, and back.

use earlybird_scenario::{
    Application, Endpoint, Network, Queue, Scenario, ScenarioError, Start, Transport, canonical_json, resolve,
};
use rstest::rstest;

const DUMBBELL: &str = include_str!("../../../scenarios/dumbbell.toml");
const FALL_FLOYD: &str = include_str!("../../../scenarios/fall-floyd-1996.toml");

/// Splits `key=value` texts, as the command line does.
fn overrides(texts: &[&str]) -> Vec<(String, String)> {
    let pairs = texts.iter().map(|text| text.split_once('=').unwrap_or((text, "")));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn dumbbell(texts: &[&str]) -> Scenario {
    resolve(DUMBBELL, &overrides(texts)).unwrap_or_else(|error| panic!("{error}"))
}

fn fall_floyd(texts: &[&str]) -> Scenario {
    let texts = [&["endpoint.rto.clock-phase=3.395772ms"], texts].concat();
    resolve(FALL_FLOYD, &overrides(&texts)).unwrap_or_else(|error| panic!("{error}"))
}

fn assert_round_trip(scenario: &Scenario) {
    let text = canonical_json(scenario);
    let resolved_twice = resolve(&text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(resolved_twice, *scenario);
    assert_eq!(canonical_json(&resolved_twice), text);
}

#[rstest]
fn dumbbells_survive_the_round_trip(
    #[values("pairs=1", "pairs=28", "flows.video.count=4")] count: &str,
    #[values(
        "buffer=20",
        "network.dumbbell.bottleneck.queue.bytes=80000",
        "network.dumbbell.bottleneck.queue=unlimited"
    )]
    queue: &str,
    #[values("transport=sack", "transport=pert-er-fg", "flows.file.endpoint.rto.floor=1000ms")] transport: &str,
    #[values("measure.series=100ms", "duration=101s", "sweep.grid.pairs=[1, 2]", "title=Another")] other: &str,
) {
    assert_round_trip(&dumbbell(&[count, queue, transport, other]));
}

#[rstest]
fn lone_flows_survive_the_round_trip(
    #[values("options=stock", "options=fall96")] options: &str,
    #[values("drops=[]", "drops=[14]", "drops=[14,28]")] drops: &str,
    #[values("transport=sack", "transport=pert-er")] transport: &str,
    #[values("flows.flow.start.uniform=[\"0s\", \"1s\"]", "network.links.1.loss.0.bernoulli.probability=0.01")]
    other: &str,
) {
    assert_round_trip(&fall_floyd(&[options, drops, transport, other]));
}

#[test]
fn parameters_fill_in_every_place() {
    let scenario = dumbbell(&["pairs=5", "buffer=160", "transport=pert"]);
    assert_eq!(scenario.flows[0].count, 5);
    assert_eq!(scenario.flows[1].count, 5);
    assert_eq!(scenario.flows[0].transport, Some("pert".parse().unwrap()));
    assert_eq!(bottleneck_queue(&scenario), Queue::Packets(160));
    assert_eq!(scenario.parameters["pairs"], 5);
    assert!(scenario.resolved);
}

fn bottleneck_queue(scenario: &Scenario) -> Queue {
    let Network::Dumbbell(dumbbell) = &scenario.network else { panic!("not a dumbbell") };
    dumbbell.bottleneck.queue
}

#[rstest]
#[case("stock", None, None, None)]
#[case("fall96", Some(false), Some("1s"), Some("6s"))]
fn variants_overlay_the_endpoint(
    #[case] options: &str,
    #[case] precise_halving: Option<bool>,
    #[case] floor: Option<&str>,
    #[case] initial: Option<&str>,
) {
    let endpoint = fall_floyd(&[&format!("options={options}")]).endpoint;
    assert_eq!(endpoint.precise_halving, precise_halving);
    assert_eq!(endpoint.rto.floor.map(|time| time.to_string()).as_deref(), floor);
    assert_eq!(endpoint.rto.initial.map(|time| time.to_string()).as_deref(), initial);
    // Keys that the overlay does not have keep their values.
    assert_eq!(endpoint.window, Some(28));
    assert_eq!(endpoint.rto.clock_phase, Some("3395.772us".parse().unwrap()));
}

#[rstest]
#[case("vegas", "142047ns")]
#[case("reno-er", "5558807ns")]
fn a_star_stands_for_every_variant_that_is_not_listed(#[case] transport: &str, #[case] clock_phase: &str) {
    let scenario = resolve(FALL_FLOYD, &overrides(&[&format!("transport={transport}")])).unwrap();
    assert_eq!(scenario.endpoint.rto.clock_phase, Some(clock_phase.parse().unwrap()));
}

#[test]
fn key_paths_win_over_variants() {
    let scenario = fall_floyd(&["endpoint.rto.floor=300ms", "options=fall96"]);
    assert_eq!(scenario.endpoint.rto.floor, Some("300ms".parse().unwrap()));
}

#[test]
fn variants_reach_into_lists_and_replace_choices() {
    let text = format!(
        "{DUMBBELL}\n[variants.pairs.28.flows.web.application.bulk]\nbytes = 9\n\
         [variants.pairs.28.network.dumbbell.bottleneck.queue]\nbytes = 5000\n"
    );
    let scenario = resolve(&text, &overrides(&["network.dumbbell.bottleneck.delay=$buffer", "buffer=1ms"])).unwrap();
    assert!(matches!(&scenario.flows[2].application, Application::Bulk(bulk) if bulk.bytes == Some(9)));
    assert_eq!(bottleneck_queue(&scenario), Queue::Bytes(5000));
}

#[rstest]
#[case("endpoint.rto.floor=1s", "/endpoint/rto/floor", "\"1s\"")]
#[case("measure.series=100ms", "/measure/series", "\"100ms\"")]
#[case("measure.duplicates=true", "/measure/duplicates", "true")]
#[case("measure.start-up-delays=[\"1s\", \"2min\"]", "/measure/start-up-delays", "[\"1s\",\"120s\"]")]
#[case("flows.video.transport=pert-er", "/flows/0/transport", "\"pert-er\"")]
#[case("flows.1.transport=\"pert-er\"", "/flows/1/transport", "\"pert-er\"")]
#[case("flows.file.endpoint.rto.floor=1000ms", "/flows/1/endpoint", "{\"rto\":{\"floor\":\"1s\"}}")]
#[case("flows.file.count=3", "/flows/1/count", "3")]
#[case("flows.file.start.at=0.5s", "/flows/1/start", "{\"at\":\"500ms\"}")]
#[case(
    "flows.file.access-delay.uniform=[\"5ms\", \"15ms\"]",
    "/flows/1/access-delay",
    "{\"uniform\":[\"5ms\",\"15ms\"]}"
)]
#[case("measure.queue-positions=true", "/measure/queue-positions", "true")]
#[case("flows.file.application={ bulk = { bytes = 7 } }", "/flows/1/application", "{\"bulk\":{\"bytes\":7}}")]
#[case("network.dumbbell.bottleneck.queue.bytes=80000", "/network/dumbbell/bottleneck/queue", "{\"bytes\":80000}")]
#[case("network.dumbbell.bottleneck.queue=unlimited", "/network/dumbbell/bottleneck/queue", "\"unlimited\"")]
#[case("network.dumbbell.reverse-queue.packets=9", "/network/dumbbell/reverse-queue", "{\"packets\":9}")]
#[case(
    "network.dumbbell.access.loss.0.periodic.period=9",
    "/network/dumbbell/access/loss",
    "[{\"periodic\":{\"burst\":1,\"period\":9}}]"
)]
#[case("sweep.seeds=[3, 4]", "/sweep/seeds", "[3,4]")]
#[case("sweep.grid.pairs=[1, 2]", "/sweep/grid/pairs", "[1,2]")]
#[case("sweep.grid.endpoint.rto.floor=[\"1s\"]", "/sweep/grid/endpoint.rto.floor", "[\"1s\"]")]
#[case("parameters.pairs=3", "/flows/0/count", "3")]
#[case("title=Yet another", "/title", "\"Yet another\"")]
fn overrides_reach_every_key(#[case] text: &str, #[case] pointer: &str, #[case] value: &str) {
    let document: serde_json::Value = serde_json::from_str(&canonical_json(&dumbbell(&[text]))).unwrap();
    assert_eq!(document.pointer(pointer).unwrap().to_string(), value);
}

#[test]
fn links_are_picked_by_their_ends() {
    let scenario = fall_floyd(&["network.links.router-receiver.queue.packets=20"]);
    let Network::Links(links) = &scenario.network else { panic!("not a list of links") };
    assert_eq!(links[1].queue, Queue::Packets(20));
    assert_eq!(scenario.network.link_names(), ["sender-router", "router-sender", "router-receiver", "receiver-router"]);
    assert_eq!(scenario.network.nodes(), ["sender", "router", "receiver"]);
}

const SHORT: &str = r#"
duration = "20s"
network.dumbbell.bottleneck = { rate = "1Mb/s", delay = "1ms" }
network.dumbbell.access = { rate = "10Mb/s", delay = "1ms" }
flows = [{ name = "file", from = "left", to = "right", application = { bulk = {} } }]
"#;

#[rstest]
#[case(&[], "2s")]
#[case(&["duration=500s"], "50s")]
#[case(&["duration=5000s"], "100s")]
#[case(&["measure.warm-up=19s"], "19s")]
fn an_untouched_warm_up_fits_the_run(#[case] texts: &[&str], #[case] warm_up: &str) {
    let scenario = resolve(SHORT, &overrides(texts)).unwrap();
    assert_eq!(scenario.measure.warm_up.to_string(), warm_up);
}

#[test]
fn defaults_are_written_out() {
    let scenario = resolve(SHORT, &[]).unwrap();
    assert_eq!(scenario.endpoint, Endpoint::default());
    assert_eq!(scenario.endpoint.transport, Transport::default());
    assert_eq!(scenario.endpoint.transport.to_string(), "sack");
    assert_eq!(scenario.flows[0].count, 1);
    assert_eq!(scenario.flows[0].start, Start::default());
    assert!(!scenario.resolved);
}

#[test]
fn json_and_toml_mean_the_same() {
    let json = r#" {
        "duration": "20s",
        "network": {"dumbbell": {"bottleneck": {"rate": "1Mb/s", "delay": "1ms"},
                                 "access": {"rate": "10Mb/s", "delay": "1ms"}}},
        "flows": [{"name": "file", "from": "left", "to": "right", "application": {"bulk": {"bytes": null}},
                   "endpoint": {"mss": null}, "transport": null}],
        "sweep": null, "title": null
    }"#;
    let canonical = |text| canonical_json(&resolve(text, &[]).unwrap()).replace("\"endpoint\":{\"mss\":null},", "");
    assert_eq!(canonical(json), canonical(SHORT));
}

#[test]
fn a_flow_has_its_own_endpoint_settings() {
    let texts = ["endpoint.rto.floor=1s", "endpoint.rto.tick=1ms", "flows.file.endpoint.rto.tick=10ms"];
    let more = ["flows.file.endpoint.window=9", "flows.file.endpoint.transport=pert", "flows.video.transport=sack-er"];
    let scenario = dumbbell(&[&texts[..], &more[..]].concat());
    let [video, file, web] = [0, 1, 2].map(|index| scenario.endpoint_of(&scenario.flows[index]).unwrap());
    assert_eq!(web, scenario.endpoint);
    assert_eq!(video, Endpoint { transport: "sack-er".parse().unwrap(), ..scenario.endpoint.clone() });
    assert_eq!((file.window, file.transport), (Some(9), "pert".parse().unwrap()));
    assert_eq!(file.rto.floor, Some("1s".parse().unwrap()));
    assert_eq!(file.rto.tick, Some("10ms".parse().unwrap()));
    assert_eq!(file.profile, scenario.endpoint.profile);
}

#[test]
fn null_takes_back_a_setting_for_one_flow() {
    let mut scenario = dumbbell(&["endpoint.delayed-ack=100ms"]);
    scenario.flows[0].endpoint.insert("delayed-ack".to_owned(), serde_json::Value::Null);
    assert_eq!(scenario.endpoint_of(&scenario.flows[0]).unwrap().delayed_ack, None);
    assert_round_trip(&scenario);
}

#[test]
fn a_flow_with_a_bad_setting_is_named() {
    let mut scenario = dumbbell(&[]);
    scenario.flows[0].endpoint.insert("window".to_owned(), 0.into());
    let error: ScenarioError = scenario.endpoint_of(&scenario.flows[0]).unwrap_err();
    assert_eq!(error.path, "flows.video.endpoint.window");
}

#[test]
fn resolved_scenarios_take_key_paths_and_keep_their_record() {
    let text = canonical_json(&dumbbell(&["pairs=3"]));
    let scenario = resolve(&text, &overrides(&["flows.video.count=4"])).unwrap();
    assert_eq!((scenario.flows[0].count, scenario.flows[1].count), (4, 3));
    assert_eq!(scenario.parameters["pairs"], 3);
}
