//! A socket's error queue: completions of sends without copy, and times of sending.

use crate::world::Micros;
use std::collections::VecDeque;
use std::net::IpAddr;

/// An entry of the error queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notification {
    /// These sends need their buffers no more.
    Sent { first: u32, last: u32 },
    /// Something happened to a byte at a time.
    Stamped { event: u32, byte: u32, at: Micros },
}

/// The error queue.
#[derive(Debug, Default)]
pub(crate) struct Notifications {
    queue: VecDeque<Notification>,
    /// Ends of sends without copy that are not acknowledged, each with its number.
    zero_copies: VecDeque<(u64, u32)>,
    next_zero_copy: u32,
    /// Last bytes of writes whose times are wanted: which of the three events have been told.
    stamps: VecDeque<Stamp>,
}

#[derive(Debug)]
struct Stamp {
    end: u64,
    byte: u32,
    is_sent: bool,
}

/// `SCM_TSTAMP_SND`
const SENT: u32 = 0;
/// `SCM_TSTAMP_SCHED`
const SCHEDULED: u32 = 1;
/// `SCM_TSTAMP_ACK`
const ACKNOWLEDGED: u32 = 2;

const ORIGIN_TIMESTAMPING: u8 = 4;
const ORIGIN_ZEROCOPY: u8 = 5;
const CODE_ZEROCOPY_COPIED: u8 = 1;
const TX_SCHED: u32 = 1 << 8;
const TX_SOFTWARE: u32 = 1 << 1;
const TX_ACK: u32 = 1 << 9;

impl Notifications {
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn take(&mut self) -> Option<Notification> {
        self.queue.pop_front()
    }

    /// A send without copy ends at this place of the stream.
    pub(crate) fn on_zero_copy(&mut self, end: u64) {
        self.zero_copies.push_back((end, self.next_zero_copy));
        self.next_zero_copy += 1;
    }

    /// A write ends at this place of the stream, counted from when times were asked for, and its times are wanted.
    pub(crate) fn on_stamped_write(&mut self, end: u64, byte: u32) {
        self.stamps.push_back(Stamp { end, byte, is_sent: false });
    }

    /// Bytes up to `end` have left.
    pub(crate) fn on_sent(&mut self, end: u64, at: Micros, wanted: u32) {
        for stamp in self.stamps.iter_mut().filter(|stamp| !stamp.is_sent && stamp.end <= end) {
            stamp.is_sent = true;
            for (flag, event) in [(TX_SCHED, SCHEDULED), (TX_SOFTWARE, SENT)] {
                if wanted & flag != 0 {
                    self.queue.push_back(Notification::Stamped { event, byte: stamp.byte, at });
                }
            }
        }
    }

    /// Bytes up to `end` have been acknowledged. Says whether something was queued.
    pub(crate) fn on_acknowledged(&mut self, end: u64, at: Micros, wanted: u32) -> bool {
        let mut has_news = false;
        while let Some((_, number)) = self.zero_copies.pop_front_if(|(last, _)| *last <= end) {
            self.complete(number);
            has_news = true;
        }
        while let Some(stamp) = self.stamps.pop_front_if(|stamp| stamp.end <= end) {
            if wanted & TX_ACK != 0 {
                self.queue.push_back(Notification::Stamped { event: ACKNOWLEDGED, byte: stamp.byte, at });
                has_news = true;
            }
        }
        has_news
    }

    /// Consecutive sends share an entry, even where it waits already to be read.
    fn complete(&mut self, number: u32) {
        match self.queue.back_mut() {
            Some(Notification::Sent { last, .. }) if *last + 1 == number => *last = number,
            _ => self.queue.push_back(Notification::Sent { first: number, last: number }),
        }
    }
}

impl Notification {
    /// Returns the control messages that tell of it: level, type and data of each.
    pub(crate) fn messages(&self, address: IpAddr) -> Vec<(i32, i32, Vec<u8>)> {
        let told = match address {
            IpAddr::V4(_) => (libc::SOL_IP, libc::IP_RECVERR),
            IpAddr::V6(_) => (libc::SOL_IPV6, libc::IPV6_RECVERR),
        };
        match *self {
            Self::Sent { first, last } => {
                vec![(told.0, told.1, error(address, 0, ORIGIN_ZEROCOPY, CODE_ZEROCOPY_COPIED, [first, last]))]
            }
            Self::Stamped { event, byte, at } => vec![
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, stamps(at)),
                (told.0, told.1, error(address, libc::ENOMSG, ORIGIN_TIMESTAMPING, 0, [event, byte])),
            ],
        }
    }

    /// Returns whether the message's data were cut off: times come with the packet, of which nothing is given.
    pub(crate) fn is_truncated(&self) -> bool {
        matches!(self, Self::Stamped { .. })
    }
}

/// Lays out `sock_extended_err`, and behind it the address of an offender, which there is none of.
fn error(address: IpAddr, errno: i32, origin: u8, code: u8, [info, data]: [u32; 2]) -> Vec<u8> {
    let offender = match address {
        IpAddr::V4(_) => size_of::<libc::sockaddr_in>(),
        IpAddr::V6(_) => size_of::<libc::sockaddr_in6>(),
    };
    let mut bytes = errno.to_ne_bytes().to_vec();
    bytes.extend([origin, 0, code, 0]);
    bytes.extend(info.to_ne_bytes());
    bytes.extend(data.to_ne_bytes());
    bytes.resize(16 + offender, 0);
    bytes
}

/// Lays out `scm_timestamping`: three times, the first by software.
fn stamps(at: Micros) -> Vec<u8> {
    let mut bytes = ((at / 1_000_000) as i64).to_ne_bytes().to_vec();
    bytes.extend(((at % 1_000_000 * 1000) as i64).to_ne_bytes());
    bytes.resize(48, 0);
    bytes
}
