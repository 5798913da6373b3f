//! Web traffic: requests, connections, and reading times.

mod browser;
mod empirical;
mod http_simple;
mod mah;
mod surge;
mod webtraf;

pub use browser::{Browser, Exchange, Pages, Persistence};
pub use http_simple::HttpSimple;
pub use mah::Mah;
pub use surge::Surge;
pub use webtraf::{WebParameters, WebSession};

use crate::PathId;
use alloc::vec::Vec;
use earlybird_units::Random;

/// The paths between the clients and servers that the sessions of a flow share.
#[derive(Clone, Debug)]
pub struct Sites {
    /// Paths from each client to each server: `requests[client][server]`.
    pub requests: Vec<Vec<PathId>>,
    /// Paths back: `responses[client][server]`.
    pub responses: Vec<Vec<PathId>>,
}

impl Sites {
    fn draw_client(&self, random: &mut Random) -> usize {
        random.below(self.requests.len() as u64) as usize
    }

    fn draw_server(&self, client: usize, random: &mut Random) -> usize {
        random.below(self.requests[client].len() as u64) as usize
    }
}
