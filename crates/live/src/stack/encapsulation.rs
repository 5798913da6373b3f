//! Serialises segments for a device.

use super::settings::version_of;
use crate::device::{Device, Encapsulation, Path, TxQueue};
use earlybird_wire::{Addresses, HEADERS_MAX, Layout, Segment, Style, emit, emit_bare};
use std::net::IpAddr;

/// Writes segments in the format of a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Encapsulator {
    pub(super) encapsulation: Encapsulation,
    style: Style,
}

impl Encapsulator {
    pub(super) fn of(device: &impl Device) -> Self {
        let style = Style { partial_checksum: device.computes_checksums(), ..Style::default() };
        Self { encapsulation: device.encapsulation(), style }
    }

    /// Returns the MSS in packets of up to `mtu` bytes to a host.
    pub(super) fn mss(self, host: IpAddr, mtu: u16) -> u16 {
        version_of(host).mss_within(mtu.saturating_sub(self.encapsulation.overhead()))
    }

    /// Appends a segment to the transmit queue. A segment whose options do not fit is dropped.
    pub(super) fn emit(
        self,
        tx: &mut TxQueue,
        path: Path,
        addresses: &Addresses,
        segment: &Segment,
        payload: [&[u8]; 2],
    ) {
        let most = HEADERS_MAX + payload[0].len() + payload[1].len();
        let _ = tx.add(path, segment.ecn, most, |into| match self.encapsulation {
            Encapsulation::Ip => emit(segment, addresses, self.style, payload, into),
            Encapsulation::Udp => emit_bare(segment, addresses, Layout::Linux, payload, into),
        });
    }
}
