//! Units of an application: cut into datagrams on one side, put together on the other.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use earlybird_wire::Datagram;

/// Units that were written and wait to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Outbox {
    /// Bytes of the units that wait; the first may be sent in part.
    units: VecDeque<u64>,
    /// Bytes of a stream without units of its own: each datagram is one.
    stream: u64,
    next_unit: u32,
    next_part: u32,
    mss: u16,
}

impl Outbox {
    pub(crate) const fn new(mss: u16) -> Self {
        Self { units: VecDeque::new(), stream: 0, next_unit: 0, next_part: 0, mss }
    }

    pub(crate) fn write_unit(&mut self, bytes: u64) {
        self.units.push_back(bytes);
    }

    pub(crate) fn write_stream(&mut self, bytes: u64) {
        self.stream = self.stream.saturating_add(bytes);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty() && self.stream == 0
    }

    /// Takes the next datagram. An empty unit is a datagram without payload.
    pub(crate) fn pop(&mut self) -> Option<Datagram> {
        let mss = u64::from(self.mss);
        let Some(unit) = self.units.front().copied() else {
            let len = self.stream.min(mss);
            self.stream -= len;
            // Bytes of a stream: every datagram is a unit of its own.
            return (len > 0).then(|| self.number(len, 1));
        };
        // An empty unit is one empty datagram.
        let parts = unit.div_ceil(mss).max(1);
        let sent = u64::from(self.next_part) * mss;
        if u64::from(self.next_part) + 1 == parts {
            self.units.pop_front();
        }
        Some(self.number((unit - sent).min(mss), parts as u32))
    }

    fn number(&mut self, len: u64, parts: u32) -> Datagram {
        let (unit, part) = (self.next_unit, self.next_part);
        (self.next_unit, self.next_part) = if part + 1 == parts { (unit + 1, 0) } else { (unit, part + 1) };
        Datagram { unit, part, parts, len: len as u16, ..Datagram::default() }
    }
}

/// Units of several parts that are remembered at a time, complete or not.
const REMEMBERED: usize = 64;

/// The parts of each unit that arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inbox {
    received: u64,
    units: Vec<Partial>,
}

/// A unit of several parts.
#[derive(Clone, Debug)]
struct Partial {
    unit: u32,
    missing: u32,
    arrived: Vec<bool>,
}

impl Inbox {
    /// Returns the payload bytes that arrived, part units included.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// Takes a datagram and gives the number of the unit that it completes.
    pub(crate) fn take(&mut self, datagram: &Datagram) -> Option<u32> {
        self.received += u64::from(datagram.len);
        if datagram.parts <= 1 {
            return (datagram.parts == 1).then_some(datagram.unit);
        }
        let index = self.place_of(datagram);
        let partial = &mut self.units[index];
        let arrived = partial.arrived.get_mut(datagram.part as usize)?;
        // A duplicate.
        if core::mem::replace(arrived, true) {
            return None;
        }
        partial.missing -= 1;
        (partial.missing == 0).then_some(datagram.unit)
    }

    /// Finds the unit, or makes room for it: the oldest is forgotten.
    fn place_of(&mut self, datagram: &Datagram) -> usize {
        if let Some(index) = self.units.iter().rposition(|partial| partial.unit == datagram.unit) {
            return index;
        }
        // Reuses the buffer of the oldest unit: no allocation in steady state.
        let mut arrived = if self.units.len() < REMEMBERED { Vec::new() } else { self.units.remove(0).arrived };
        arrived.clear();
        arrived.resize(datagram.parts as usize, false);
        self.units.push(Partial { unit: datagram.unit, missing: datagram.parts, arrived });
        self.units.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn units_are_complete_when_all_their_parts_came_in_any_order(
            sizes in proptest::collection::vec(0_u64..5_000, 1..20),
            order in any::<u64>(),
        ) {
            let (mut outbox, mut inbox) = (Outbox::new(1000), Inbox::default());
            for size in &sizes {
                outbox.write_unit(*size);
            }
            let mut datagrams: Vec<_> = core::iter::from_fn(|| outbox.pop()).collect();
            prop_assert!(outbox.is_empty());
            let whole = |unit: u32| datagrams.iter().filter(|part| part.unit == unit).map(|part| u64::from(part.len)).sum();
            let lengths: Vec<u64> = (0..sizes.len() as u32).map(whole).collect();
            prop_assert_eq!(&lengths, &sizes);
            datagrams.sort_by_key(|part| (u64::from(part.unit * 7 + part.part) + 1).wrapping_mul(order | 1));
            // Every second one arrives twice.
            let twice = datagrams.iter().enumerate().flat_map(|(index, part)| core::iter::repeat_n(part, 1 + index % 2));
            let several: Vec<u32> = twice.filter(|part| part.parts > 1).filter_map(|part| inbox.take(part)).collect();
            let mut expected: Vec<u32> = (0..sizes.len() as u32).filter(|unit| sizes[*unit as usize] > 1000).collect();
            expected.sort_unstable_by_key(|unit| several.iter().position(|done| done == unit));
            prop_assert_eq!(several, expected);
        }
    }

    #[test]
    fn a_unit_without_one_of_its_parts_is_never_complete() {
        let (mut outbox, mut inbox) = (Outbox::new(10), Inbox::default());
        outbox.write_unit(25);
        outbox.write_unit(3);
        let datagrams: Vec<_> = core::iter::from_fn(|| outbox.pop()).collect();
        let done: Vec<_> = [0, 2, 3].into_iter().filter_map(|index: usize| inbox.take(&datagrams[index])).collect();
        assert_eq!((done, inbox.received()), (alloc::vec![1], 18));
    }
    #[test]
    fn a_stream_is_cut_into_units_of_one_datagram() {
        let mut outbox = Outbox::new(10);
        outbox.write_stream(25);
        let parts: Vec<_> =
            core::iter::from_fn(|| outbox.pop()).map(|part| (part.unit, part.parts, part.len)).collect();
        assert_eq!(parts, [(0, 1, 10), (1, 1, 10), (2, 1, 5)]);
    }
}
