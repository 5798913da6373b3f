use serde_json::Value;
use std::fmt;

/// What is wrong with a scenario: where, what stands there, what may stand there, and what was probably meant.
///
/// Its text is one paragraph: ``path: `value` problem; allowed: … hint: …``. Parts that do not exist are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScenarioError {
    /// The key with the keys around it, as `--set` takes it (`flows.video.count`); for broken syntax, line and column.
    pub path: String,
    /// What stands there, shortened.
    pub value: String,
    /// What is wrong with it.
    pub problem: String,
    /// What may stand there.
    pub allowed: String,
    /// What was probably meant, or what the key means.
    pub hint: String,
}

impl ScenarioError {
    pub(crate) fn new(path: &str, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into(), ..Self::default() }
    }

    #[must_use]
    pub(crate) fn value(self, value: &Value) -> Self {
        self.text(&text_of(value))
    }

    #[must_use]
    pub(crate) fn text(self, value: &str) -> Self {
        Self { value: shortened(value), ..self }
    }

    #[must_use]
    pub(crate) fn allowed(self, allowed: impl Into<String>) -> Self {
        Self { allowed: allowed.into(), ..self }
    }

    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    #[must_use]
    pub(crate) fn at(self, path: &str) -> Self {
        Self { path: path.into(), ..self }
    }

    #[must_use]
    pub(crate) fn or_hint(self, hint: &str) -> Self {
        if self.hint.is_empty() { self.hint(hint) } else { self }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = if self.value.is_empty() { String::new() } else { format!("`{}` ", self.value) };
        let place = labelled("", &self.path, ": ");
        let allowed = labelled("; allowed: ", &self.allowed, "");
        let hint = labelled(" hint: ", &self.hint, "");
        let text = format!("{place}{value}{}{allowed}.{hint}", self.problem);
        // Keys and values may contain anything; the message is one line all the same.
        formatter.write_str(&text.replace(char::is_control, " "))
    }
}

impl std::error::Error for ScenarioError {}

fn labelled(before: &str, part: &str, after: &str) -> String {
    if part.is_empty() { String::new() } else { format!("{before}{part}{after}") }
}

/// Returns a value as a user would write it: texts without quotation marks, everything else as JSON.
pub(crate) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn shortened(text: &str) -> String {
    const LIMIT: usize = 60;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
