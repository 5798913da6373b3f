//! Sets of numbers as sorted, disjoint ranges: the data that SACK reports, on both sides.

use alloc::vec::Vec;
use core::ops::Range;

/// A set of numbers as sorted ranges that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    ranges: Vec<Range<u64>>,
    total: u64,
}

/// A reader of ascending numbers: the ranges at or above the last one.
#[derive(Debug)]
pub(crate) struct Ascending<'a> {
    rest: &'a [Range<u64>],
}

impl Ascending<'_> {
    /// Returns whether the set holds a number.
    #[inline]
    pub(crate) fn contains(&mut self, number: u64) -> bool {
        while let Some((first, above)) = self.rest.split_first()
            && first.end <= number
        {
            self.rest = above;
        }
        self.rest.first().is_some_and(|range| range.start <= number)
    }
}

impl Ranges {
    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
        self.total = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns how many numbers the set holds.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn as_slice(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// Returns whether a range overlaps or touches one of the set, so that adding it makes no more of them.
    pub(crate) fn meets(&self, range: &Range<u64>) -> bool {
        let place = self.ranges.partition_point(|held| held.end < range.start);
        self.ranges.get(place).is_some_and(|held| held.start <= range.end)
    }

    /// Returns whether all of a range is there.
    pub(crate) fn holds(&self, range: &Range<u64>) -> bool {
        self.as_slice().iter().any(|held| held.start <= range.start && range.end <= held.end)
    }

    /// Returns whether the set holds a number.
    pub(crate) fn contains(&self, number: u64) -> bool {
        let index = self.ranges.partition_point(|range| range.end <= number);
        self.ranges.get(index).is_some_and(|range| range.start <= number)
    }

    /// Returns a reader for ascending numbers: in all it passes each range once.
    pub(crate) fn ascending(&self) -> Ascending<'_> {
        Ascending { rest: &self.ranges }
    }

    /// Returns the end of the highest range, or 0.
    pub(crate) fn end(&self) -> u64 {
        self.ranges.last().map_or(0, |range| range.end)
    }

    /// Adds a range; returns the range of the set that now contains it.
    #[inline]
    pub(crate) fn insert(&mut self, new: Range<u64>) -> Range<u64> {
        // Data mostly arrive in order, so that the last range grows.
        match self.ranges.last_mut() {
            Some(last) if (last.start..=last.end).contains(&new.start) => {
                let end = last.end.max(new.end);
                self.total += end - last.end;
                last.end = end;
                last.clone()
            }
            _ => self.insert_anywhere(new),
        }
    }

    fn insert_anywhere(&mut self, new: Range<u64>) -> Range<u64> {
        let first = self.ranges.partition_point(|range| range.end < new.start);
        let last = first + self.ranges[first..].partition_point(|range| range.start <= new.end);
        if first == last {
            self.total += new.end - new.start;
            self.ranges.insert(first, new.clone());
            return new;
        }
        self.merge(first, last, &new)
    }

    fn merge(&mut self, first: usize, last: usize, new: &Range<u64>) -> Range<u64> {
        let touched = &self.ranges[first..last];
        let merged = touched[0].start.min(new.start)..touched[touched.len() - 1].end.max(new.end);
        let before: u64 = touched.iter().map(|range| range.end - range.start).sum();
        self.total += merged.end - merged.start - before;
        self.ranges[first] = merged.clone();
        self.ranges.drain(first + 1..last);
        merged
    }

    /// Returns the lowest number of the set.
    pub(crate) fn first(&self) -> Option<u64> {
        self.ranges.first().map(|range| range.start)
    }

    /// Returns the lowest part of `range` that the set contains.
    #[inline]
    pub(crate) fn first_within(&self, range: &Range<u64>) -> Option<Range<u64>> {
        // Mostly the range is above the whole set: the search is out of line.
        if range.start >= self.end() { None } else { self.first_in_between(range) }
    }

    fn first_in_between(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let index = self.ranges.partition_point(|held| held.end <= range.start);
        let held = self.ranges.get(index).filter(|held| held.start < range.end)?;
        Some(held.start.max(range.start)..held.end.min(range.end))
    }

    /// Removes one number, if the set contains it.
    pub(crate) fn remove(&mut self, number: u64) {
        let index = self.ranges.partition_point(|range| range.end <= number);
        let Some(range) = self.ranges.get_mut(index).filter(|range| range.start <= number) else {
            return;
        };
        self.total -= 1;
        // One range becomes two, one or none.
        let above = number + 1..range.end;
        range.end = number;
        if range.is_empty() {
            self.ranges.remove(index);
        }
        if !above.is_empty() {
            self.ranges
                .insert(index + usize::from(self.ranges.get(index).is_some_and(|range| range.end <= number)), above);
        }
    }

    /// Removes everything below `limit`.
    pub(crate) fn remove_below(&mut self, limit: u64) {
        if self.first().is_none_or(|first| first >= limit) {
            return;
        }
        let gone = self.ranges.partition_point(|range| range.end <= limit);
        self.total -= self.ranges.drain(..gone).map(|range| range.end - range.start).sum::<u64>();
        if let Some(first) = self.ranges.first_mut().filter(|range| range.start < limit) {
            self.total -= limit - first.start;
            first.start = limit;
        }
    }

    /// Removes the ranges that begin at or below `start`, and those adjacent to them; returns where they end.
    pub(crate) fn take_from(&mut self, start: u64) -> u64 {
        let reaches = |end: &mut u64, range: &Range<u64>| {
            let is_reached = range.start <= *end;
            *end = if is_reached { range.end.max(*end) } else { *end };
            is_reached.then_some(*end)
        };
        let ends = self.ranges.iter().scan(start, reaches);
        let (count, end) = ends.fold((0, start), |(count, _), end| (count + 1, end));
        self.total -= self.ranges.drain(..count).map(|range| range.end - range.start).sum::<u64>();
        end
    }

    /// Returns the lowest number from `from` on that is missing below some number of the set.
    pub(crate) fn next_hole(&self, from: u64) -> Option<u64> {
        if from >= self.end() {
            return None;
        }
        let place = self.ranges.partition_point(|range| range.end <= from);
        let range = self.ranges.get(place)?;
        if range.start > from {
            return Some(from);
        }
        self.ranges.get(place + 1).map(|_| range.end)
    }

    /// Counts the numbers of the set that lie below `limit`.
    pub(crate) fn count_below(&self, limit: u64) -> u64 {
        if limit >= self.end() {
            return self.total;
        }
        let below = self.ranges.iter().take_while(|range| range.start < limit);
        below.map(|range| range.end.min(limit) - range.start).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn behaves_like_a_set(inserts in proptest::collection::vec((0_u64..60, 1_u64..8), 1..30), cut in 0_u64..70) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (start, len) in inserts {
                let (before, meets) = (ranges.as_slice().len(), ranges.meets(&(start..start + len)));
                let holder = ranges.insert(start..start + len);
                prop_assert_eq!(meets, ranges.as_slice().len() <= before);
                prop_assert!(holder.start <= start && holder.end >= start + len);
                set.extend(start..start + len);
                prop_assert_eq!(ranges.total(), set.len() as u64);
            }
            let mut ascending = ranges.ascending();
            prop_assert!((0..80).all(|number| ascending.contains(number) == set.contains(&number)));
            prop_assert_eq!(ranges.count_below(cut), set.range(..cut).count() as u64);
            let top = set.last().copied().unwrap_or(0);
            let hole = (cut..top).find(|number| !set.contains(number));
            prop_assert_eq!(ranges.next_hole(cut), hole);
            let mut taken = ranges.clone();
            taken.remove_below(cut);
            let end = taken.take_from(cut);
            prop_assert_eq!(Some(end), (cut..100).find(|number| !set.contains(number)));
            prop_assert_eq!(taken.total(), set.range(end..).count() as u64);
            prop_assert!(taken.first().is_none_or(|first| first > end));
            ranges.remove(cut + 3);
            set.remove(&(cut + 3));
            ranges.remove_below(cut);
            set.retain(|&number| number >= cut);
            prop_assert_eq!(ranges.first(), set.first().copied());
            prop_assert_eq!(ranges.total(), set.len() as u64);
            let spread: BTreeSet<u64> = ranges.as_slice().iter().cloned().flatten().collect();
            prop_assert_eq!(spread, set);
        }
    }
}
