//! From a text to a checked scenario.

use crate::media::{self, NoMedia, ReadMedia};
use crate::model::{Network, NetworkDocument, Scenario};
use crate::schema_walk::{DocumentSchema, SchemaNode};
use crate::{deserialize, document, overrides, parameter_checks, parameter_values, schema_check, traces, validate};
use earlybird_transport::{ScenarioError, Transports};
use serde_json::Value;
use std::path::Path;

/// The context in which scenarios are read: the transports that they may name, the folder of their files, a reader of videos.
pub struct Resolver<'a> {
    /// The transports that flows may name.
    pub transports: Transports,
    /// The folder to which file names are relative.
    pub folder: &'a Path,
    /// Reads video files.
    pub media: &'a dyn ReadMedia,
}

/// The built-in transports, the working folder, and no videos.
impl Default for Resolver<'_> {
    fn default() -> Self {
        Self { transports: Transports::built_in(), folder: Path::new(""), media: &NoMedia }
    }
}

/// Reads a scenario that names files, if any, in the working folder; see [`Resolver::resolve`].
///
/// # Errors
/// The first thing that is wrong, see [`ScenarioError`].
pub fn resolve(text: &str, overrides: &[(String, String)]) -> Result<Scenario, ScenarioError> {
    Resolver::default().resolve(text, overrides)
}

/// Reads a scenario that names files in `folder`; see [`Resolver::resolve`].
///
/// # Errors
/// The first thing that is wrong, see [`ScenarioError`].
pub fn resolve_in(folder: &Path, text: &str, overrides: &[(String, String)]) -> Result<Scenario, ScenarioError> {
    Resolver { folder, ..Resolver::default() }.resolve(text, overrides)
}

/// Returns whether a text is that of a network by itself; a text that cannot be parsed is not.
pub fn is_network(text: &str) -> bool {
    // A scenario without flows is an error that names them, so that a network is told by what else it lacks, too.
    let has = |document: &Value, key: &str| document.get(key).is_some();
    document::parse(text)
        .is_ok_and(|document| has(&document, "network") && !["flows", "duration"].iter().any(|key| has(&document, key)))
}

impl Resolver<'_> {
    /// Reads a scenario and makes everything in it explicit: overrides, variants and parameters are applied, in this order of
    /// precedence, the content of files becomes part of it, and every check is made.
    ///
    /// `text` is JSON if it starts with a brace, else TOML. An override's key is a parameter, or a key path with list elements
    /// by name or number (`flows.video.count`); its value is TOML, or a bare text.
    ///
    /// # Errors
    /// The first thing that is wrong, see [`ScenarioError`].
    pub fn resolve(&self, text: &str, overrides: &[(String, String)]) -> Result<Scenario, ScenarioError> {
        let schema = DocumentSchema::of(&self.transports);
        let document = Self::applied(text, overrides, schema.root())?;
        let mut filled = parameter_values::substitute(&document)?;
        // Files before checks: what they hold is checked like what a scenario says.
        let read = traces::read(&mut filled, self.folder);
        let read = read.and_then(|()| media::read(&mut filled, self.folder, self.media));
        let scenario = read.and_then(|()| self.build(&filled, schema.root()));
        // The check of a value that stands in for a parameter cannot tell where the value came from.
        scenario.map_err(|error| parameter_values::add_parameter_hint(error, &document))
    }

    /// Reads a network by itself: a document with the key `network`, and `title`, `parameters` and `variants` as in a scenario.
    ///
    /// # Errors
    /// The first thing that is wrong, see [`ScenarioError`].
    pub fn resolve_network(&self, text: &str, overrides: &[(String, String)]) -> Result<Network, ScenarioError> {
        let schema = DocumentSchema::of_network();
        let document = Self::applied(text, overrides, schema.root())?;
        let mut filled = parameter_values::substitute(&document)?;
        let network = traces::read(&mut filled, self.folder).and_then(|()| {
            schema_check::check(&filled, schema.root(), "")?;
            let NetworkDocument { network, .. } = deserialize(&filled, "")?;
            validate::validate_network(&network)?;
            Ok(network)
        });
        network.map_err(|error| parameter_values::add_parameter_hint(error, &document))
    }

    /// Parses a document and applies overrides and variants. Parameters keep their places.
    fn applied(text: &str, overrides: &[(String, String)], root: SchemaNode<'_>) -> Result<Value, ScenarioError> {
        let mut document = document::parse(text)?;
        let variants = parameter_checks::take_variants(&mut document)?;
        // Values of parameters select variants; key paths come last, as they override what variants set.
        let paths = parameter_values::assign(&mut document, overrides)?;
        parameter_values::overlay(&mut document, &variants, root)?;
        for (key, value) in paths {
            overrides::set(&mut document, root, key, value)?;
        }
        Ok(document)
    }

    /// Checks a document without parameters and makes a scenario of it.
    fn build(&self, document: &Value, root: SchemaNode<'_>) -> Result<Scenario, ScenarioError> {
        schema_check::check(document, root, "")?;
        let scenario: Scenario = deserialize(document, "")?;
        let mut scenario = scenario.with_transports(&self.transports)?;
        // Only the default is shortened: a warm-up that is given and too long is an error.
        if document.pointer("/measure/warm-up").is_none() {
            scenario.measure.shorten_warm_up(scenario.duration);
        }
        scenario.choose_transports(document);
        scenario.set_plugin_builds();
        scenario.settle_endpoints(root.child("endpoint").unwrap_or(root))?;
        // Before validation, which checks the frames of a file like those of a scenario.
        scenario.read_frames(self.folder)?;
        validate::validate(&scenario, document, root)?;
        Ok(scenario)
    }
}
