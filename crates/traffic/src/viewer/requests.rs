use crate::{Part, Playout, ReceiverIo, Request};
use alloc::vec::Vec;
use earlybird_units::Instant;

/// The requests of a film in whole segments, of which some were abandoned.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    made: u64,
    /// Numbers of those that were abandoned, rising.
    abandoned: Vec<u64>,
    /// The position in the stream at which the answer to the last request begins; unknown until the one before it has ended.
    begins: Option<u64>,
}

impl Requests {
    /// Records a request that is made when all earlier ones have been answered.
    pub(super) fn ask(&mut self, position: u64) {
        self.made += 1;
        self.begins = Some(position);
    }

    /// Records a request that replaces the last one.
    pub(super) fn replace(&mut self) {
        self.abandoned.push(self.made - 1);
        self.made += 1;
        self.begins = None;
    }

    /// Returns how much of the last request's answer has arrived.
    pub(super) fn loaded(&self, received: u64) -> u64 {
        self.begins.map_or(0, |begins| received.saturating_sub(begins))
    }

    /// Numbers a part by segments; `None` if its request was abandoned, after which the stream is read up to `position`.
    fn take(&mut self, part: Part, position: u64) -> Option<Part> {
        match self.abandoned.binary_search(&part.unit) {
            Ok(_) => {
                self.begins = (part.unit + 2 == self.made).then_some(position);
                None
            }
            // Each request that was abandoned is for the same segment as the next one.
            Err(before) => Some(Part { unit: part.unit - before as u64, ..part }),
        }
    }
}

/// The host of a player: it reads segments instead of answers.
pub(super) struct Answers<'a> {
    pub(super) io: &'a mut dyn ReceiverIo,
    pub(super) requests: &'a mut Requests,
}

impl Answers<'_> {
    fn next(&mut self, read: impl Fn(&mut dyn ReceiverIo) -> Option<Part>) -> Option<Part> {
        loop {
            let part = read(self.io)?;
            let position = self.io.position();
            // Nobody waits for the answer to a request that was abandoned.
            if let Some(part) = self.requests.take(part, position) {
                return Some(part);
            }
        }
    }
}

impl ReceiverIo for Answers<'_> {
    fn now(&self) -> Instant {
        self.io.now()
    }

    fn read_in_order(&mut self) -> Option<Part> {
        self.next(|io| io.read_in_order())
    }

    fn read(&mut self) -> Option<Part> {
        self.next(|io| io.read())
    }

    fn write(&mut self, bytes: u64) {
        self.io.write(bytes);
    }

    fn received(&self) -> u64 {
        self.io.received()
    }

    fn position(&self) -> u64 {
        self.io.position()
    }

    fn request(&mut self, bytes: u64, request: Request) {
        self.io.request(bytes, request);
    }

    fn wake_at(&mut self, at: Instant) {
        self.io.wake_at(at);
    }

    fn report(&mut self, event: Playout) {
        self.io.report(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_were_counted_by_requests() {
        let mut requests = Requests::default();
        requests.ask(0);
        assert_eq!(requests.take(Part::whole(0), 1000), Some(Part::whole(0)));
        requests.ask(1000);
        assert_eq!(requests.loaded(1200), 200);
        // Segment 1 is abandoned, and of its first answer 300 bytes come yet.
        requests.replace();
        assert_eq!(requests.loaded(1400), 0);
        assert_eq!((requests.take(Part::whole(1), 1500), requests.loaded(1600)), (None, 100));
        assert_eq!(requests.take(Part::whole(2), 1700), Some(Part::whole(1)));
    }

    #[test]
    fn an_answer_began_before_two_that_were_abandoned_had_ended() {
        let mut requests = Requests::default();
        requests.ask(0);
        requests.replace();
        requests.replace();
        assert_eq!((requests.take(Part::whole(0), 100), requests.loaded(200)), (None, 0));
        assert_eq!((requests.take(Part::whole(1), 150), requests.loaded(200)), (None, 50));
        assert_eq!(requests.take(Part::whole(2), 300), Some(Part::whole(0)));
    }
}
