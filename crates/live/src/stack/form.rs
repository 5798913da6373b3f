//! How segments are written for a device.

use crate::device::{Carriage, Device, Outbox, Path};
use earlybird_wire::{Addresses, HEADERS_MAX, Layout, Segment, Style, emit, emit_bare};

/// What a device wants to be given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) carriage: Carriage,
    style: Style,
}

impl Form {
    pub(super) fn of(device: &impl Device) -> Self {
        let style = Style { leaves_checksum: device.computes_checksums(), ..Style::default() };
        Self { carriage: device.carriage(), style }
    }

    /// Puts a segment into the outbox. One that cannot be written, for its options do not fit beside what the caller chose, is lost.
    pub(super) fn put(
        self,
        outbox: &mut Outbox,
        path: Path,
        addresses: &Addresses,
        segment: &Segment,
        payload: [&[u8]; 2],
    ) {
        let most = HEADERS_MAX + payload[0].len() + payload[1].len();
        let _ = outbox.add(path, segment.ecn, most, |into| match self.carriage {
            Carriage::Ip => emit(segment, addresses, self.style, payload, into),
            Carriage::Udp => emit_bare(segment, addresses, Layout::Linux, payload, into),
        });
    }
}
