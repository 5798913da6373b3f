use super::empirical::Empirical;
use super::{Exchange, Pages};
use alloc::vec::Vec;
use earlybird_units::{Duration, Random};

// B. A. Mah, "An Empirical Model of HTTP Network Traffic", INFOCOM 1997. Its medians, upper quantiles and largest values are
// points of the distributions; the points 547 B, 165.3 kB, 47,860 s, 12.5 and 17.8 are chosen so that the means agree, too.

/// Bytes of a request: median 231, mean 337.
const REQUEST: Empirical = Empirical(&[(0.0, 100.0), (0.5, 231.0), (0.9, 547.0), (1.0, 2000.0)]);

/// Bytes of an answer: median 2112, 90 % 12.6 kB, 99 % 67 kB, largest 1.64 MB, mean 7231.
const REPLY: Empirical =
    Empirical(&[(0.0, 100.0), (0.5, 2112.0), (0.9, 12_600.0), (0.99, 67_000.0), (0.999, 165_300.0), (1.0, 1.64e6)]);

/// Files of a page, rounded up: median 1, mean 2.84.
const FILES: Empirical = Empirical(&[(0.0, 1.0), (0.55, 1.0), (1.0, 12.5)]);

/// Pages of the same server in a row, rounded up: median 2, mean 4.0.
const PAGES: Empirical = Empirical(&[(0.0, 1.0), (0.3, 1.0), (0.6, 2.0), (1.0, 17.8)]);

/// Seconds between pages: median 16.2, 75 % 61, mean 1804.
const THINK: Empirical = Empirical(&[(0.0, 1.0), (0.5, 16.2), (0.75, 61.0), (1.0, 47_860.0)]);

/// Users as Mah observed them at Berkeley in 1995.
#[derive(Clone, Debug, Default)]
pub struct Mah {
    pages_left: u64,
}

impl Pages for Mah {
    fn draw(&mut self, random: &mut Random, exchanges: &mut Vec<Exchange>) {
        let files = rounded_up(FILES.draw(random));
        let mut exchange =
            || Exchange { request: rounded_up(REQUEST.draw(random)), response: rounded_up(REPLY.draw(random)) };
        exchanges.extend((0..files).map(|_| exchange()));
    }

    fn reading(&mut self, random: &mut Random) -> Duration {
        Duration::from_secs_f64(THINK.draw(random))
    }

    fn leaves_server(&mut self, random: &mut Random) -> bool {
        let leaves = self.pages_left == 0;
        // Consecutive pages per server are drawn when a server is entered.
        if leaves {
            self.pages_left = rounded_up(PAGES.draw(random));
        }
        self.pages_left -= 1;
        leaves
    }
}

fn rounded_up(value: f64) -> u64 {
    libm::ceil(value) as u64
}
