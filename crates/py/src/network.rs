//! `_core.ResolvedNetwork`: a network by itself.

use crate::scenario_error_in;
use earlybird_scenario::{Network, Resolver};
use pyo3::prelude::*;
use std::path::Path;

/// A complete, valid network without traffic.
#[pyclass(frozen, module = "earlybird._core")]
pub(crate) struct ResolvedNetwork(pub(crate) Network);

#[pymethods]
impl ResolvedNetwork {
    /// Parses TOML or JSON. Files that it names are in `folder`; errors name the file `source` and the line in it.
    #[new]
    #[pyo3(signature = (text, overrides=vec![], folder="", source=None))]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over what it converted")]
    fn new(text: &str, overrides: Vec<(String, String)>, folder: &str, source: Option<&str>) -> PyResult<Self> {
        let resolver = Resolver { folder: Path::new(folder), ..Resolver::default() };
        let network = resolver.resolve_network(text, &overrides);
        network.map(Self).map_err(|error| scenario_error_in(error, text, &overrides, source))
    }
}

/// Returns whether a text is that of a network by itself and not of a scenario.
#[pyfunction]
pub(crate) fn is_network(text: &str) -> bool {
    earlybird_scenario::is_network(text)
}
