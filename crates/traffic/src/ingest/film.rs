use alloc::sync::Arc;
use earlybird_units::Duration;

/// Dependencies of a coded picture, in order of what is lost with it: OBS Studio's priorities (`libobs/obs-nal.h`), where H.264 says
/// that others refer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Picture {
    /// Pictures before and after it (B): no other one, or few, refer to it.
    Both,
    /// An earlier one (P).
    Earlier,
    /// None: a key frame (I), with which decoding can begin.
    Key,
}

/// The kind of an encoder's packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Sound.
    Sound,
    /// A picture.
    Picture(Picture),
}

/// A packet of the encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The time, from the start of the film.
    pub at: Duration,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its kind.
    pub content: Content,
}

/// Pictures and sound of a film, in the order of its encoder; it is repeated every `length`.
#[derive(Clone, Debug)]
pub struct Film {
    packets: Arc<[Packet]>,
    length: Duration,
}

impl Film {
    /// Makes a film from packets in order of time.
    pub const fn new(packets: Arc<[Packet]>, length: Duration) -> Self {
        Self { packets, length }
    }

    /// Returns packet `number`, counted from 0; `None` in an empty film.
    pub fn packet(&self, number: u64) -> Option<Packet> {
        let count = self.packets.len() as u64;
        let packet = self.packets.get(number.checked_rem(count)? as usize)?;
        Some(Packet { at: self.length * (number / count) + packet.at, ..*packet })
    }
}
