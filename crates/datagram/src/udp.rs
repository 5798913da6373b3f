//! UDP without any control (RFC 768).

use crate::transmit::Transmit;
use crate::units::{Inbox, Outbox};
use earlybird_wire::Datagram;

/// One end of a flow over UDP: data is sent when written, and delivered on arrival.
#[derive(Clone, Debug)]
pub struct Udp {
    outbox: Outbox,
    inbox: Inbox,
    completed: Option<u32>,
    sent: u64,
}

impl Udp {
    pub(crate) fn new(mss: u16) -> Self {
        Self { outbox: Outbox::new(mss), inbox: Inbox::default(), completed: None, sent: 0 }
    }

    pub(crate) fn write_unit(&mut self, bytes: u64) {
        self.outbox.write_unit(bytes);
    }

    pub(crate) fn on_datagram(&mut self, datagram: &Datagram) {
        self.completed = self.inbox.take(datagram);
    }

    pub(crate) fn take_completed(&mut self) -> Option<u32> {
        self.completed.take()
    }

    pub(crate) fn poll_transmit(&mut self) -> Option<Transmit> {
        let datagram = self.outbox.pop()?;
        let number = self.sent;
        // Datagrams are numbered for traces; UDP itself has no numbers.
        self.sent += 1;
        Some(Transmit { datagram, number: Some(number), is_retransmission: false })
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    pub(crate) fn received(&self) -> u64 {
        self.inbox.received()
    }
}
