//! Where in a stream the units are that its viewer has not read.

use earlybird_traffic::Part;
use std::collections::VecDeque;

/// The units written to a stream, by where they end.
#[derive(Debug, Default)]
pub(crate) struct UnitMap {
    ends: VecDeque<(u64, u64)>,
    units: u64,
    written: u64,
    read: u64,
}

impl UnitMap {
    /// Learns that a unit was written.
    pub(crate) fn put(&mut self, bytes: u64) {
        self.written += bytes;
        self.ends.push_back((self.written, self.units));
        self.units += 1;
    }

    /// Returns how many bytes are missing of the next unit; none if none was written.
    pub(crate) fn missing(&self) -> Option<u64> {
        self.ends.front().map(|(end, _)| end - self.read)
    }

    /// Learns that so much was read, and gives the unit that is whole by that.
    pub(crate) fn take(&mut self, bytes: u64) -> Option<Part> {
        self.read += bytes;
        let (_, unit) = self.ends.pop_front_if(|(end, _)| *end <= self.read)?;
        Some(Part::whole(unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_whole_when_its_last_byte_was_read() {
        let mut unit_map = UnitMap::default();
        assert_eq!(unit_map.missing(), None);
        unit_map.put(100);
        unit_map.put(50);
        assert_eq!((unit_map.missing(), unit_map.take(60), unit_map.missing()), (Some(100), None, Some(40)));
        assert_eq!((unit_map.take(40), unit_map.missing()), (Some(Part::whole(0)), Some(50)));
        assert_eq!((unit_map.take(50), unit_map.missing()), (Some(Part::whole(1)), None));
    }
}
