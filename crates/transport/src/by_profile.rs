//! Names of congestion controls that mean another one under the profile `linux` than under the others.

use crate::name::Detection;
use crate::profile::Profile;

/// A name for one of two registered controls, of which the profile of an endpoint selects one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByProfile {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) source: &'static str,
    /// The detections that the name may select by suffix: those that both controls have.
    pub(crate) detections: &'static [Detection],
    /// The controls: first that of the profile `linux`, then that of the others. Their tables are its parameters.
    pub(crate) controls: [&'static str; 2],
}

/// Every such name.
///
/// What Linux calls `bbr` is version 1 (`net/ipv4/tcp_bbr.c` up to Linux 6.18); what the IETF specifies under that name is version 3
/// (draft-ietf-ccwg-bbr).
pub(crate) const BY_PROFILE: &[ByProfile] = &[ByProfile {
    name: "bbr",
    title: "The BBR of the profile: version 1 (`bbr1`) under `linux`, version 3 (`bbr3`) under the others",
    source: "Linux 6.18 (`tcp_bbr.c`); draft-ietf-ccwg-bbr (August 2026)",
    detections: &[Detection::Duplicates, Detection::EarlyRetransmission, Detection::Rack],
    controls: ["bbr1", "bbr3"],
}];

impl Profile {
    /// Returns the registered congestion control that a name means under this profile: itself, unless the name depends on the
    /// profile.
    pub fn control_named(self, name: &str) -> &str {
        let found = BY_PROFILE.iter().find(|one| one.name == name);
        found.map_or(name, |one| one.controls[usize::from(self != Self::Linux)])
    }
}
