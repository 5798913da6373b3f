//! Memory of this process over time.

/// Returns the resident memory of this process, in bytes.
///
/// # Panics
///
/// If there is no `/proc`.
pub fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    // The second field of statm is the resident set (proc_pid_statm(5)).
    let pages: u64 =
        text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("the second number is this one");
    pages * rustix::param::page_size() as u64
}

/// Samples of the resident memory.
#[derive(Clone, Debug, Default)]
pub struct Growth(Vec<u64>);

/// Variation without a leak: bursts of connections, fragmentation of the heap.
const TOLERANCE_BYTES: u64 = 2_000_000;

impl Growth {
    /// Takes a sample and returns it.
    pub fn sample(&mut self) -> u64 {
        let bytes = resident();
        self.0.push(bytes);
        bytes
    }

    /// Returns the peaks of the first and of the last third of the samples.
    fn peaks(&self) -> Option<[u64; 2]> {
        // The middle third is left out: warm-up of allocators may reach into it.
        let third = self.0.len() / 3;
        let first = self.0.get(..third)?.iter().max()?;
        Some([*first, *self.0[self.0.len() - third..].iter().max()?])
    }

    /// Returns whether the peak has grown from the first to the last third; `None` with fewer than three samples.
    pub fn has_grown(&self) -> Option<bool> {
        self.peaks().map(|[first, last]| last > first + TOLERANCE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_distinguished_from_variation() {
        let growing = Growth((0..30).map(|on_progress| 10_000_000 + on_progress * 200_000).collect());
        let steady = Growth((0..30).map(|on_progress| 10_000_000 + on_progress % 3 * 500_000).collect());
        assert_eq!([growing.has_grown(), steady.has_grown()], [Some(true), Some(false)]);
        assert_eq!(Growth(vec![1, 2]).has_grown(), None);
    }
}
