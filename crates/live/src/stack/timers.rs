//! The timers of all connections.

use super::Id;
use super::connection_table::ConnectionTable;
use earlybird_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A heap of deadlines in which only one entry per connection is valid: that of
/// [`ConnectionEntry::timer_at`](super::connection_entry::ConnectionEntry::timer_at). A deadline that moves back is inserted only
/// when the old entry is popped. So restarting the RTO timer with every ACK costs nothing.
#[derive(Debug, Default)]
pub(super) struct Timers(BinaryHeap<Reverse<(Instant, Id)>>);

impl Timers {
    /// Schedules the next deadline of a connection, if it is earlier than the scheduled one.
    pub(super) fn schedule(&mut self, connections: &mut ConnectionTable, id: Id) {
        let Some(entry) = connections.get_mut(id) else { return };
        let Some(deadline) = entry.connection.poll_timeout() else { return };
        if deadline < entry.timer_at {
            entry.timer_at = deadline;
            self.0.push(Reverse((deadline, id)));
        }
        if self.0.len() > Self::max_len(connections) {
            self.compact(connections);
        }
    }

    /// Returns the largest size of the heap: all valid entries, and as many invalid ones.
    fn max_len(connections: &ConnectionTable) -> usize {
        64 + 2 * connections.len()
    }

    /// Removes invalid entries. Without it, entries far ahead would stay for hours after their connection scheduled an earlier
    /// one.
    fn compact(&mut self, connections: &ConnectionTable) {
        let is_valid = |id: Id, at: Instant| connections.get(id).is_some_and(|entry| entry.timer_at == at);
        self.0.retain(|Reverse((at, id))| is_valid(*id, *at));
    }

    /// Returns the earliest deadline.
    pub(super) fn first(&mut self, connections: &mut ConnectionTable) -> Option<Instant> {
        while let Some(&Reverse((at, id))) = self.0.peek() {
            let current = connections
                .get(id)
                .filter(|entry| entry.timer_at == at)
                .and_then(|entry| entry.connection.poll_timeout());
            if current == Some(at) {
                return Some(at);
            }
            self.replace_first(connections);
        }
        None
    }

    /// Removes and returns the connection of the earliest deadline, if it is due.
    pub(super) fn take(&mut self, connections: &mut ConnectionTable, now: Instant) -> Option<Id> {
        self.first(connections).filter(|at| *at <= now)?;
        let Reverse((_, id)) = self.0.pop()?;
        connections.get_mut(id)?.timer_at = Instant::NEVER;
        Some(id)
    }

    /// Removes an outdated entry; if it was the valid one, the current deadline replaces it.
    fn replace_first(&mut self, connections: &mut ConnectionTable) {
        let Some(Reverse((at, id))) = self.0.pop() else { return };
        if let Some(entry) = connections.get_mut(id).filter(|entry| entry.timer_at == at) {
            entry.timer_at = Instant::NEVER;
            self.schedule(connections, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::device::{Memory, Path};
    use crate::{ManualClock, Settings, Stack};
    use earlybird_tcp::{Config, KeepAlive, Lifetimes, ListenConfig};
    use earlybird_units::Duration;

    /// Each write moves the next deadline from two hours ahead (keep-alive) to 200 ms (RTO), and each ACK back.
    #[test]
    fn outdated_entries_do_not_accumulate() {
        let clock = ManualClock::default();
        let (one, other) = Memory::pair(1500);
        let host = |device, address: &str| {
            Stack::new(device, clock.clone(), Settings::deterministic(1, &[address.parse().unwrap()])).unwrap()
        };
        let (mut client, mut server) = (host(one, "10.0.0.1"), host(other, "10.0.0.2"));
        let lifetimes = Lifetimes { keep_alive: Some(KeepAlive::LINUX), ..Lifetimes::LINUX };
        let config = Config::linux().with_lifetimes(lifetimes);
        server.listen(80, &config, ListenConfig::default()).unwrap();
        let id = client.connect(&config, Path::to("10.0.0.2".parse().unwrap()), 80).unwrap();
        for _ in 0..5000 {
            assert_eq!(client.write(id, b"word"), Ok(4));
            for _ in 0..3 {
                client.turn().unwrap();
                server.turn().unwrap();
            }
            clock.advance(Duration::from_secs(1));
            assert!(client.deadline().is_some(), "keep-alive is scheduled");
            assert!(client.timers.0.len() <= super::Timers::max_len(&client.connections) + 1);
        }
    }
}
