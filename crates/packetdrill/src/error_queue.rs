//! The error queue of a socket: completions of zero-copy sends, and transmit timestamps.

use crate::time::Micros;
use std::collections::VecDeque;
use std::net::IpAddr;

/// An entry of the error queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorQueueEntry {
    /// These zero-copy sends are complete.
    Sent { first: u32, last: u32 },
    /// A timestamp of a byte.
    Stamped { event: u32, byte: u32, at: Micros },
}

/// The error queue.
#[derive(Debug, Default)]
pub(crate) struct ErrorQueue {
    queue: VecDeque<ErrorQueueEntry>,
    /// Ends of zero-copy sends that are not acknowledged, with their numbers.
    zero_copies: VecDeque<(u64, u32)>,
    next_zero_copy: u32,
    /// Writes whose timestamps are requested.
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

impl ErrorQueue {
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn take(&mut self) -> Option<ErrorQueueEntry> {
        self.queue.pop_front()
    }

    /// Records a zero-copy send that ends at this offset.
    pub(crate) fn on_zero_copy(&mut self, end: u64) {
        self.zero_copies.push_back((end, self.next_zero_copy));
        self.next_zero_copy += 1;
    }

    /// Records a write that ends at this offset and whose timestamps are requested. `byte` is the offset since `SO_TIMESTAMPING`
    /// was set.
    pub(crate) fn on_stamped_write(&mut self, end: u64, byte: u32) {
        self.stamps.push_back(Stamp { end, byte, is_sent: false });
    }

    /// Queues timestamps of bytes that were transmitted.
    pub(crate) fn on_sent(&mut self, end: u64, at: Micros, wanted: u32) {
        for stamp in self.stamps.iter_mut().filter(|stamp| !stamp.is_sent && stamp.end <= end) {
            stamp.is_sent = true;
            for (flag, event) in [(TX_SCHED, SCHEDULED), (TX_SOFTWARE, SENT)] {
                // Each event is requested by its own flag of SO_TIMESTAMPING.
                if wanted & flag != 0 {
                    self.queue.push_back(ErrorQueueEntry::Stamped { event, byte: stamp.byte, at });
                }
            }
        }
    }

    /// Queues completions and timestamps of acknowledged bytes. Returns whether there were any.
    pub(crate) fn on_acknowledged(&mut self, end: u64, at: Micros, wanted: u32) -> bool {
        let mut has_news = false;
        while let Some((_, number)) = self.zero_copies.pop_front_if(|(last, _)| *last <= end) {
            self.complete(number);
            has_news = true;
        }
        while let Some(stamp) = self.stamps.pop_front_if(|stamp| stamp.end <= end) {
            if wanted & TX_ACK != 0 {
                self.queue.push_back(ErrorQueueEntry::Stamped { event: ACKNOWLEDGED, byte: stamp.byte, at });
                has_news = true;
            }
        }
        has_news
    }

    /// Consecutive completions are merged into one entry (`skb_zerocopy_notify_extend`).
    fn complete(&mut self, number: u32) {
        match self.queue.back_mut() {
            // Even an entry that is waiting to be read is extended.
            Some(ErrorQueueEntry::Sent { last, .. }) if *last + 1 == number => *last = number,
            _ => self.queue.push_back(ErrorQueueEntry::Sent { first: number, last: number }),
        }
    }
}

impl ErrorQueueEntry {
    /// Returns the control messages of the entry: level, type and data.
    pub(crate) fn messages(&self, address: IpAddr) -> Vec<(i32, i32, Vec<u8>)> {
        let recverr = match address {
            IpAddr::V4(_) => (libc::SOL_IP, libc::IP_RECVERR),
            IpAddr::V6(_) => (libc::SOL_IPV6, libc::IPV6_RECVERR),
        };
        match *self {
            Self::Sent { first, last } => {
                vec![(recverr.0, recverr.1, error(address, 0, ORIGIN_ZEROCOPY, CODE_ZEROCOPY_COPIED, [first, last]))]
            }
            Self::Stamped { event, byte, at } => vec![
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, stamps(at)),
                (recverr.0, recverr.1, error(address, libc::ENOMSG, ORIGIN_TIMESTAMPING, 0, [event, byte])),
            ],
        }
    }

    /// Returns whether `MSG_TRUNC` is set: timestamps come with the packet, which is not returned.
    pub(crate) fn is_truncated(&self) -> bool {
        matches!(self, Self::Stamped { .. })
    }
}

/// Serialises `sock_extended_err`, followed by an empty address of the offender.
fn error(address: IpAddr, errno: i32, origin: u8, code: u8, [info, data]: [u32; 2]) -> Vec<u8> {
    let offender = match address {
        IpAddr::V4(_) => size_of::<libc::sockaddr_in>(),
        IpAddr::V6(_) => size_of::<libc::sockaddr_in6>(),
    };
    let mut bytes = errno.to_ne_bytes().to_vec();
    bytes.extend([origin, 0, code, 0]);
    bytes.extend(info.to_ne_bytes());
    bytes.extend(data.to_ne_bytes());
    // The size of `sock_extended_err` is 16 bytes.
    bytes.resize(16 + offender, 0);
    bytes
}

/// Serialises `scm_timestamping`: three timestamps, of which the first is by software.
fn stamps(at: Micros) -> Vec<u8> {
    let mut bytes = ((at / 1_000_000) as i64).to_ne_bytes().to_vec();
    bytes.extend(((at % 1_000_000 * 1000) as i64).to_ne_bytes());
    // Three `timespec` of 16 bytes.
    bytes.resize(48, 0);
    bytes
}
