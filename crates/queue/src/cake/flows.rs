//! The queues of flows and the hash that assigns them, set-associative with 8 ways ("Piece of CAKE", §III-A).

use super::cobalt::Cobalt;
use crate::fifo::Fifo;
use crate::fq_codel::mix;

/// Queues of flows (`CAKE_QUEUES` in Linux), and how many of them a flow may take (`CAKE_SET_WAYS`).
const QUEUES: usize = 1024;
const SET_SIZE: usize = 8;

/// The list that a flow is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Membership {
    /// In none: another flow may take the queue.
    #[default]
    Free,
    /// Among the new or the old flows.
    Active,
    /// Empty, until the state of its AQM has decayed.
    Decaying,
}

/// One flow.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub(super) fifo: Fifo,
    pub(super) cobalt: Cobalt,
    /// Bytes that it may still send in this turn.
    pub(super) deficit: i64,
    pub(super) membership: Membership,
    /// The hash of the connection for which the queue was last taken.
    tag: Option<u64>,
}

/// All flows.
#[derive(Debug)]
pub(super) struct Flows {
    pub(super) all: Vec<Flow>,
    /// Makes the hash a different one in every run.
    salt: u64,
}

impl Flows {
    pub(super) fn new(salt: u64) -> Self {
        Self { all: (0..QUEUES).map(|_| Flow::default()).collect(), salt }
    }

    /// Returns the queue of a connection: the one that it has in its set, a free one, or one that it shares (`cake_hash`).
    pub(super) fn assign(&mut self, connection: u64) -> usize {
        let hash = mix(connection ^ self.salt);
        let first = (hash % QUEUES as u64) as usize;
        let set = first - first % SET_SIZE;
        let places = (0..SET_SIZE).map(|step| set + (first + step) % SET_SIZE);
        let place = places
            .clone()
            .find(|place| self.all[*place].tag == Some(hash))
            .or_else(|| places.clone().find(|place| self.all[*place].membership == Membership::Free))
            .unwrap_or(first);
        self.all[place].tag = Some(hash);
        place
    }

    /// Returns the flow with the most bytes.
    pub(super) fn longest(&mut self) -> Option<&mut Flow> {
        self.all.iter_mut().max_by_key(|flow| flow.fifo.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};
    use std::collections::HashSet;

    /// Returns how many of a number of connections share a queue with an earlier one.
    fn shared(connections: u64, salt: u64) -> usize {
        let mut flows = Flows::new(salt);
        let mut places = HashSet::new();
        for connection in 0..connections {
            let place = flows.assign(connection);
            flows.all[place].membership = Membership::Active;
            places.insert(place);
        }
        connections as usize - places.len()
    }

    /// "Piece of CAKE" §III-A: with 100 flows of 1024 queues a plain hash has about 5 % of collisions by the birthday problem; the set-associative
    /// hash has hardly any.
    #[test]
    fn a_hundred_connections_hardly_ever_share_a_queue() {
        let collisions: usize = (0..20).map(|salt| shared(100, salt)).sum();
        let plain = 2000.0 - 20.0 * 1024.0 * (1.0 - (1.0 - 1.0 / 1024.0_f64).powi(100));
        assert!(collisions == 0 && plain > 80.0, "{collisions}, {plain}");
        let compared = "connections of 20 × 100 that share one of 1024 queues; a plain hash: 93";
        conforms(Area::Queue, "cake", "Piece of CAKE 2018 §III-A", compared, "0");
    }

    #[test]
    fn a_connection_keeps_its_queue_and_a_free_one_is_taken_by_another() {
        let mut flows = Flows::new(7);
        let place = flows.assign(1);
        assert_eq!(flows.assign(1), place);
        flows.all[place].membership = Membership::Active;
        let rival = (2..1_000_000).find(|connection| mix(connection ^ 7) % 1024 == place as u64).unwrap();
        assert_ne!(flows.assign(rival), place);
        assert_eq!(flows.assign(1), place);
    }

    #[test]
    fn a_ninth_connection_of_a_set_shares_a_queue() {
        assert!(shared(1024, 3) > 0);
        let mut flows = Flows::new(3);
        let of_set = |connection: &u64| mix(connection ^ 3) % 1024 < 8;
        let places: Vec<_> = (0..).filter(of_set).take(9).map(|connection| {
            let place = flows.assign(connection);
            flows.all[place].membership = Membership::Active;
            place
        }).collect();
        assert_eq!(places[..8].iter().collect::<HashSet<_>>().len(), 8);
        assert!(places[..8].contains(&places[8]));
    }
}
