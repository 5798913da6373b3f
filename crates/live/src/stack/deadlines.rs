//! When which connection wants to be woken.

use super::Id;
use super::flows::Flows;
use earlybird_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A heap in which a connection has one entry that counts: that of [`Flow::queued`](super::flow::Flow::queued). A deadline that
/// moves back is entered anew when the old one comes; so moving a timer with every ACK costs nothing.
#[derive(Debug, Default)]
pub(super) struct Deadlines(BinaryHeap<Reverse<(Instant, Id)>>);

impl Deadlines {
    /// Takes note of what a connection asks for.
    pub(super) fn enter(&mut self, flows: &mut Flows, id: Id) {
        let Some(flow) = flows.get_mut(id) else { return };
        let Some(deadline) = flow.connection.poll_timeout() else { return };
        if deadline < flow.queued {
            flow.queued = deadline;
            self.0.push(Reverse((deadline, id)));
        }
        if self.0.len() > Self::most(flows) {
            self.sweep(flows);
        }
    }

    /// Returns how many entries there may be: those that count, and as many again that do not any more.
    fn most(flows: &Flows) -> usize {
        64 + 2 * flows.len()
    }

    /// Drops what does not count: entries far ahead, whose connections asked for an earlier one since, would stay for hours.
    fn sweep(&mut self, flows: &Flows) {
        let counts = |id: Id, at: Instant| flows.get(id).is_some_and(|flow| flow.queued == at);
        self.0.retain(|Reverse((at, id))| counts(*id, *at));
    }

    /// Returns the first deadline.
    pub(super) fn first(&mut self, flows: &mut Flows) -> Option<Instant> {
        while let Some(&Reverse((at, id))) = self.0.peek() {
            let wanted = flows.get(id).filter(|flow| flow.queued == at).and_then(|flow| flow.connection.poll_timeout());
            if wanted == Some(at) {
                return Some(at);
            }
            self.drop_first(flows);
        }
        None
    }

    /// Takes the first one out if it has come.
    pub(super) fn take(&mut self, flows: &mut Flows, now: Instant) -> Option<Id> {
        self.first(flows).filter(|at| *at <= now)?;
        let Reverse((_, id)) = self.0.pop()?;
        flows.get_mut(id)?.queued = Instant::NEVER;
        Some(id)
    }

    /// Drops an entry that is out of date; if it was the one that counted, another takes its place.
    fn drop_first(&mut self, flows: &mut Flows) {
        let Some(Reverse((at, id))) = self.0.pop() else { return };
        if let Some(flow) = flows.get_mut(id).filter(|flow| flow.queued == at) {
            flow.queued = Instant::NEVER;
            self.enter(flows, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::device::{Memory, Path};
    use crate::{Scripted, Settings, Stack};
    use earlybird_tcp::{Config, KeepAlive, Lifetimes, ListenConfig};
    use earlybird_units::Duration;

    /// Each word moves the next deadline from two hours ahead to a fifth of a second, and back.
    #[test]
    fn entries_that_count_no_more_do_not_pile_up() {
        let clock = Scripted::default();
        let (one, other) = Memory::pair(1500);
        let host = |device, address: &str| {
            Stack::new(device, clock.clone(), Settings::scripted(1, &[address.parse().unwrap()])).unwrap()
        };
        let (mut client, mut server) = (host(one, "10.0.0.1"), host(other, "10.0.0.2"));
        let lifetimes = Lifetimes { keep_alive: Some(KeepAlive::LINUX), ..Lifetimes::LINUX };
        let config = Config { lifetimes, ..Config::linux() };
        server.listen(80, &config, ListenConfig::default()).unwrap();
        let id = client.connect(&config, Path::to("10.0.0.2".parse().unwrap()), 80).unwrap();
        for _ in 0..5000 {
            assert_eq!(client.write(id, b"word"), Ok(4));
            for _ in 0..3 {
                client.turn().unwrap();
                server.turn().unwrap();
            }
            clock.advance(Duration::from_secs(1));
            assert!(client.deadline().is_some(), "it asks whether the peer is there");
            assert!(client.deadlines.0.len() <= super::Deadlines::most(&client.flows) + 1);
        }
    }
}
