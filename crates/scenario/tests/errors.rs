//! Every mistake gives one paragraph that names the key, the value, what is allowed, and a hint.

use earlybird_scenario::{ScenarioError, resolve};
use rstest::rstest;
