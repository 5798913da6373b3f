use super::{Exchange, Pages};
use alloc::vec::Vec;
use earlybird_units::{Duration, Random};

/// Pages that are all alike, and pauses of exponential length.
#[derive(Clone, Debug)]
pub struct HttpSimple {
    /// Mean pause between the end of a page and the next.
    pub think: Duration,
    /// Bytes of each request.
    pub request: u64,
    /// Bytes of the page.
    pub page: u64,
    /// Number of objects in it.
    pub objects: u32,
    /// Bytes of each object.
    pub object: u64,
}

impl Pages for HttpSimple {
    fn draw(&mut self, _random: &mut Random, exchanges: &mut Vec<Exchange>) {
        let exchange = |response| Exchange { request: self.request, response };
        exchanges.push(exchange(self.page));
        exchanges.extend((0..self.objects).map(|_| exchange(self.object)));
    }

    fn reading(&mut self, random: &mut Random) -> Duration {
        Duration::from_secs_f64(random.exponential(self.think.as_secs_f64()))
    }
}
