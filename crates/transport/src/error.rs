use serde_json::Value;
use std::fmt;

/// An error in a scenario: the key, its value, the problem, the allowed values and a hint.
///
/// Its text is one paragraph: ``path: `value` problem; allowed: … hint: …``. Parts that do not exist are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScenarioError {
    /// The key with the keys around it, as `--set` takes it (`flows.video.count`); for broken syntax, line and column.
    pub path: String,
    /// The value, shortened.
    pub value: String,
    /// The problem, as the end of a sentence that begins with the value.
    pub problem: String,
    /// The allowed values, in words.
    pub allowed: String,
    /// The likely intention, or the meaning of the key.
    pub hint: String,
}

impl ScenarioError {
    /// Makes an error of a problem at a key path.
    pub fn new(path: &str, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into(), ..Self::default() }
    }

    /// Sets the offending value.
    #[must_use]
    pub fn value(self, value: &Value) -> Self {
        self.text(&text_of(value))
    }

    /// Sets the offending value from its text.
    #[must_use]
    pub fn text(self, value: &str) -> Self {
        Self { value: shortened(value), ..self }
    }

    /// Sets what may stand there.
    #[must_use]
    pub fn allowed(self, allowed: impl Into<String>) -> Self {
        Self { allowed: allowed.into(), ..self }
    }

    /// Sets the hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// Moves the error to another key path.
    #[must_use]
    pub fn at(self, path: &str) -> Self {
        Self { path: path.into(), ..self }
    }

    /// Sets the hint if there is none.
    #[must_use]
    pub fn or_hint(self, hint: &str) -> Self {
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
        // Keys and values may contain anything; the message is one line anyway.
        formatter.write_str(&text.replace(char::is_control, " "))
    }
}

impl std::error::Error for ScenarioError {}

fn labelled(before: &str, part: &str, after: &str) -> String {
    if part.is_empty() { String::new() } else { format!("{before}{part}{after}") }
}

/// Joins two parts of a path, either of which may be empty.
pub fn join(path: &str, key: &str) -> String {
    let dot = if path.is_empty() || key.is_empty() { "" } else { "." };
    format!("{path}{dot}{key}")
}

/// Returns a value as a user would write it: texts without quotation marks, everything else as JSON.
pub fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn shortened(text: &str) -> String {
    // A list of times or sizes may have thousands, and the message is one line.
    const LIMIT: usize = 60;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
