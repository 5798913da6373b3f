//! Random configurations from a few bytes.

use crate::settings::{configs, modes, readers};
use arbitrary::{Result, Unstructured};
use earlybird_tcp::{Config, RealTime};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

// Building the strategies takes longer than an experiment.
thread_local! {
    static CONFIGS: BoxedStrategy<Config> = configs().boxed();
    static MODES: BoxedStrategy<RealTime> = prop_oneof![readers(), modes()].boxed();
}

/// Draws a configuration from the strategies of the tests of `earlybird-tcp`, with or without real-time mode, or the `linux`
/// profile.
pub(crate) fn config(data: &mut Unstructured<'_>) -> Result<Config> {
    let seed: [u8; 4] = data.arbitrary()?;
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed.repeat(8).try_into().unwrap_or([0; 32]));
    let mut runner = TestRunner::new_with_rng(proptest::test_runner::Config::default(), rng);
    let config = CONFIGS.with(|configs| draw(configs, &mut runner));
    Ok(match data.int_in_range(0..=3_u8)? {
        0 => config.with_real_time(MODES.with(|modes| draw(modes, &mut runner))),
        1 => Config::linux(),
        _ => config,
    })
}

fn draw<T: std::fmt::Debug>(strategy: &BoxedStrategy<T>, runner: &mut TestRunner) -> T {
    strategy.new_tree(runner).expect("nothing is filtered").current()
}
