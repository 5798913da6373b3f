use strsim::damerau_levenshtein;

/// Returns the name closest to `word`, if one is close enough to be what was meant.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    // Something must be left of the word, so that single letters suggest nothing.
    let farthest = length.div_ceil(3).min(length.saturating_sub(1));
    let distance = |name: &str| damerau_levenshtein(&word, &name.to_lowercase());
    names
        .into_iter()
        .map(|name| (distance(name), name))
        .filter(|(distance, _)| *distance <= farthest)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Returns the question "did you mean …?", or nothing.
pub fn did_you_mean(guess: Option<&str>) -> String {
    guess.map_or_else(String::new, |guess| format!("did you mean `{guess}`?"))
}

/// Joins names to a list for reading.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("sak", Some("sack"))]
    #[case("SACK", Some("sack"))]
    #[case("prt", Some("pert"))]
    #[case("cubic", None)]
    #[case("", None)]
    fn finds_the_nearest_name(#[case] word: &str, #[case] found: Option<&str>) {
        assert_eq!(nearest(word, ["sack", "pert"]), found);
    }
}
