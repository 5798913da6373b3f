//! The names by which the parts of a scenario are called.

use crate::model::{Flow, Link, Loss, Network};

impl Network {
    /// Returns the names of the links, each direction on its own, forward before backward: `left-right` and `right-left` in
    /// a dumbbell (its access links have no names).
    pub fn link_names(&self) -> Vec<String> {
        match self {
            Self::Dumbbell(_) => vec!["left-right".to_owned(), "right-left".to_owned()],
            Self::Links(links) => links.iter().flat_map(|link| [link.name(), link.reverse_name()]).collect(),
        }
    }

    /// Returns the nodes between which flows run, in the order in which they first occur.
    pub fn nodes(&self) -> Vec<&str> {
        let Self::Links(links) = self else { return vec!["left", "right"] };
        let mut nodes = Vec::new();
        for node in links.iter().flat_map(|link| [link.from.as_str(), link.to.as_str()]) {
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
        nodes
    }
}

impl Link {
    /// Returns the name of the forward direction, `from-to`.
    pub fn name(&self) -> String {
        format!("{}-{}", self.from, self.to)
    }

    /// Returns the name of the backward direction, `to-from`.
    pub fn reverse_name(&self) -> String {
        format!("{}-{}", self.to, self.from)
    }
}

impl Flow {
    /// Returns the names of the group's flows: name0, name1, …
    pub fn members(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.count).map(|index| format!("{}{index}", self.name))
    }

    /// Returns whether one of the group's flows has this name, without listing them all: there may be billions.
    pub fn has_member(&self, name: &str) -> bool {
        // Only as `members` writes them: `video01` and `video+1` parse, too.
        let number = name.strip_prefix(&self.name).filter(|number| *number == "0" || !number.starts_with(['0', '+']));
        number.and_then(|number| number.parse().ok()).is_some_and(|index: u32| index < self.count)
    }
}

impl Loss {
    /// Returns the key that chooses this kind of rule.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::List(_) => "list",
            Self::Bernoulli(_) => "bernoulli",
            Self::Periodic(_) => "periodic",
            Self::GilbertElliott(_) => "gilbert-elliott",
            Self::Gilbert(_) => "gilbert",
            Self::FourState(_) => "four-state",
            Self::Fading(_) => "fading",
            Self::Policer(_) => "policer",
        }
    }

    /// Returns the flow or group to which the rule is restricted.
    pub fn flow(&self) -> Option<&str> {
        match self {
            Self::List(rule) => rule.flow.as_deref(),
            Self::Bernoulli(rule) => rule.flow.as_deref(),
            Self::Periodic(rule) => rule.flow.as_deref(),
            Self::GilbertElliott(rule) => rule.flow.as_deref(),
            Self::Gilbert(rule) => rule.flow.as_deref(),
            Self::FourState(rule) => rule.flow.as_deref(),
            Self::Fading(rule) => rule.flow.as_deref(),
            Self::Policer(rule) => rule.flow.as_deref(),
        }
    }
}
