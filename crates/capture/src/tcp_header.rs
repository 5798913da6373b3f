//! A TCP header of which a capture may have kept the first bytes only.

/// The bytes of a header without its options (RFC 9293 §3.1).
const FIXED: usize = 20;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// A header, of which the fixed part is there; of its options as many as were captured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TcpHeader<'a>(&'a [u8]);

impl<'a> TcpHeader<'a> {
    /// Returns the header at the start of these bytes; `None` if its fixed part is cut.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        (bytes.len() >= FIXED).then_some(Self(bytes))
    }

    fn word(&self, at: usize) -> u32 {
        self.0[at..at + 4].iter().fold(0, |value, byte| value << 8 | u32::from(*byte))
    }

    /// Returns the source port and the destination port.
    pub(crate) fn ports(&self) -> [u16; 2] {
        [(self.word(0) >> 16) as u16, self.word(0) as u16]
    }

    pub(crate) fn seq(&self) -> u32 {
        self.word(4)
    }

    pub(crate) fn ack(&self) -> u32 {
        self.word(8)
    }

    /// Returns the length that the header states, options included.
    pub(crate) fn header_len(&self) -> usize {
        4 * usize::from(self.0[12] >> 4)
    }

    pub(crate) fn is_syn(&self) -> bool {
        self.0[13] & SYN != 0
    }

    pub(crate) fn is_ack(&self) -> bool {
        self.0[13] & ACK != 0
    }

    /// Returns value and echo of the timestamp option (RFC 7323 §3.2); zeros if it is not there, or cut.
    pub(crate) fn timestamp(&self) -> (u32, u32) {
        self.timestamp_at().map_or((0, 0), |at| (self.word(at), self.word(at + 4)))
    }

    fn timestamp_at(&self) -> Option<usize> {
        const END: u8 = 0;
        const NO_OPERATION: u8 = 1;
        const TIMESTAMPS: u8 = 8;
        let end = self.header_len().min(self.0.len());
        let mut at = FIXED;
        while at < end {
            match (self.0[at], self.0.get(at + 1)) {
                (END, _) => return None,
                (NO_OPERATION, _) => at += 1,
                (TIMESTAMPS, Some(10)) => return (at + 10 <= end).then_some(at + 2),
                (_, Some(&length)) => at += usize::from(length).max(2),
                (_, None) => return None,
            }
        }
        None
    }
}
