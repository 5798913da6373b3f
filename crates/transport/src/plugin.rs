//! Congestion controls that are loaded while the program runs.

use crate::error::{ScenarioError, join};
use earlybird_tcp::ControlFactory;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A congestion control that is loaded while the program runs.
#[derive(Clone, Copy, Debug)]
pub struct Plugin {
    /// The transport's name, without ends.
    pub name: &'static str,
    /// A description in a few words.
    pub title: &'static str,
    /// The file that it was loaded from.
    pub source: &'static str,
    /// A hash of that file.
    pub build: &'static str,
    /// The maker of its windows.
    pub factory: &'static dyn ControlFactory,
}

/// The table of a plugin in a scenario, `endpoint.NAME`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PluginTable {
    /// Hash of the plugin's file, so that results of different builds are told apart (default: that of the loaded file).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
}

impl Plugin {
    /// Checks that a scenario was resolved with the loaded build.
    pub(crate) fn check(&self, table: &Value, path: &str) -> Result<(), ScenarioError> {
        let Some(build) = table["build"].as_str().filter(|build| *build != self.build) else { return Ok(()) };
        let error =
            ScenarioError::new(&join(path, "build"), format!("is not the build of {} that is loaded", self.source));
        Err(error.text(build).allowed(self.build).hint("leave the key out, or load the build that it names."))
    }
}
