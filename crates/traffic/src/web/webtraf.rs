use super::Sites;
use crate::{ConnectionId, SenderApp, SenderIo, Transfer, TransferKind};
use alloc::sync::Arc;
use earlybird_units::{Duration, Instant, Random};

/// Parameters of all web sessions of a flow: ns-2's `PagePool/WebTraf` with one object per page.
#[derive(Clone, Copy, Debug)]
pub struct WebParameters {
    /// Mean of the exponential pause between the end of a page and the next.
    pub think: Duration,
    /// Mean object size in packets.
    pub object_packets: f64,
    /// Shape of the Lomax distribution of object sizes.
    pub object_shape: f64,
}

/// One user: requests an object over one connection, receives it over another, and pauses.
#[derive(Debug)]
pub struct WebSession {
    sites: Arc<Sites>,
    parameters: WebParameters,
    random: Random,
    client: usize,
    server: usize,
    state: State,
    began: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Thinking,
    Asking,
    Receiving,
}

/// Packets of the largest object: more than any run carries, though heavy tails know no end.
const LARGEST_OBJECT: f64 = 1e9;

impl WebSession {
    /// Makes a session of a client drawn at random, with its own stream of random numbers.
    pub fn new(sites: Arc<Sites>, parameters: WebParameters, mut random: Random) -> Self {
        let client = sites.draw_client(&mut random);
        Self { sites, parameters, random, client, server: 0, state: State::Thinking, began: Instant::ZERO }
    }

    fn respond(&mut self, io: &mut dyn SenderIo) {
        // ns-2's `ParetoII` is a Lomax distribution.
        let packets = self.random.lomax(self.parameters.object_packets, self.parameters.object_shape);
        let connection = io.open(self.sites.responses[self.client][self.server]);
        // At least one packet, as ns-2's rounding up gives.
        io.write(connection, (packets.min(LARGEST_OBJECT) as u64 + 1) * io.mss());
        self.state = State::Receiving;
    }

    /// Ends a page, which is one object.
    fn think(&mut self, io: &mut dyn SenderIo) {
        io.complete(Transfer { kind: TransferKind::Object, began: self.began });
        io.complete(Transfer { kind: TransferKind::Page, began: self.began });
        let pause = self.random.exponential(self.parameters.think.as_secs_f64());
        io.wake_at(io.now() + Duration::from_secs_f64(pause));
        self.state = State::Thinking;
    }
}

impl SenderApp for WebSession {
    fn on_wake(&mut self, io: &mut dyn SenderIo) {
        self.began = io.now();
        // A new server for each page, as `WebTrafSession` does.
        self.server = self.sites.draw_server(self.client, &mut self.random);
        let connection = io.open(self.sites.requests[self.client][self.server]);
        io.write(connection, io.mss());
        self.state = State::Asking;
    }

    fn on_drained(&mut self, io: &mut dyn SenderIo, connection: ConnectionId) {
        io.close(connection);
        match self.state {
            State::Asking => self.respond(io),
            State::Receiving => self.think(io),
            State::Thinking => {}
        }
    }
}
