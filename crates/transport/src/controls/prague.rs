use super::ControlTable;
use crate::quantity::{Fraction, Time};
use crate::profile::Profile;
use earlybird_tcp::{Control, PragueParameters};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Prague's parameters (defaults: the draft).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Prague {
    /// Weight of a round trip in the smoothed share of marked segments (the draft's `g`; default 0.0625).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<Fraction>,
    /// Flows with shorter round trips act as often and grow as fast as with this one (the draft's virtual RTT; default 25 ms;
    /// zero: no such help).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_rtt: Option<Time>,
}

impl ControlTable for Prague {
    const NAME: &'static str = "prague";
    const TITLE: &'static str =
        "L4S: shrinks by half the share of marked segments; paced; behind `dualpi2`, hardly a queue";
    const SOURCE: &'static str = "draft-briscoe-iccrg-prague-congestion-control-04; RFC 9331; RFC 9768";

    fn control(&self, _profile: Profile) -> Control {
        let draft = PragueParameters::DEFAULT;
        Control::Prague(PragueParameters {
            gain: self.gain.map_or(draft.gain, Fraction::value),
            virtual_rtt: self.virtual_rtt.map_or(draft.virtual_rtt, Time::duration),
        })
    }
}
