//! How much memory a process has, and whether it has more and more.

/// Returns the bytes of this process that are in memory.
///
/// # Panics
///
/// If the system has no `/proc`.
pub fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: u64 =
        text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("the second number is this one");
    pages * rustix::param::page_size() as u64
}

/// Memory over time.
#[derive(Clone, Debug, Default)]
pub struct Growth(Vec<u64>);

/// A process in which nothing grows may take a little more from one look to the next: a burst of connections, a page here and there.
const SLACK: u64 = 2_000_000;

impl Growth {
    /// Takes a look; gives the bytes.
    pub fn poll(&mut self) -> u64 {
        let bytes = resident();
        self.0.push(bytes);
        bytes
    }

    /// Returns the bytes of the looks that are asked about: those of the first third, and of the last.
    fn most(&self) -> Option<[u64; 2]> {
        let third = self.0.len() / 3;
        let first = self.0.get(..third)?.iter().max()?;
        Some([*first, *self.0[self.0.len() - third..].iter().max()?])
    }

    /// Returns whether there was more in the last third than in the first; `None` before three looks.
    pub fn has_grown(&self) -> Option<bool> {
        self.most().map(|[first, last]| last > first + SLACK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_is_seen_and_what_goes_up_and_down_is_not() {
        let growing = Growth((0..30).map(|look| 10_000_000 + look * 200_000).collect());
        let steady = Growth((0..30).map(|look| 10_000_000 + look % 3 * 500_000).collect());
        assert_eq!([growing.has_grown(), steady.has_grown()], [Some(true), Some(false)]);
        assert_eq!(Growth(vec![1, 2]).has_grown(), None);
    }
}
