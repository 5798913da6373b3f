/// The TCP Fast Open option of a SYN (RFC 7413 §4.1.1): a cookie, or the request for one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FastOpen {
    cookie: [u8; Self::COOKIE_MAX],
    len: u8,
    is_experimental: bool,
}

impl FastOpen {
    /// The longest cookie in bytes; the shortest has four.
    pub const COOKIE_MAX: usize = 16;

    /// The request for a cookie.
    pub const REQUEST: Self = Self { cookie: [0; Self::COOKIE_MAX], len: 0, is_experimental: false };

    /// Returns the option with a cookie; `None` unless it has 4 to 16 bytes, an even number of them (RFC 7413 §4.1.1).
    pub fn cookie(bytes: &[u8]) -> Option<Self> {
        if !matches!(bytes.len(), 4..=Self::COOKIE_MAX) || bytes.len() % 2 == 1 {
            return None;
        }
        let mut cookie = [0; Self::COOKIE_MAX];
        cookie[..bytes.len()].copy_from_slice(bytes);
        Some(Self { cookie, len: bytes.len() as u8, is_experimental: false })
    }

    /// Returns the cookie; a request has none.
    pub fn as_slice(&self) -> &[u8] {
        &self.cookie[..usize::from(self.len)]
    }

    /// Returns whether this is the request for a cookie.
    pub const fn is_request(&self) -> bool {
        self.len == 0
    }

    /// Selects the experimental option kind (RFC 6994) that was used before RFC 7413; some middleboxes pass only that.
    #[must_use]
    pub const fn experimental(self, is_experimental: bool) -> Self {
        Self { is_experimental, ..self }
    }

    /// Returns whether the option has the experimental kind. The answer to it must have the same.
    pub const fn is_experimental(&self) -> bool {
        self.is_experimental
    }

    /// Returns the length on the wire in bytes, padded to whole words.
    pub(crate) const fn wire_len(&self) -> usize {
        // Kind and length; the experimental kind is followed by a 16-bit identifier (RFC 6994 §3).
        let header = if self.is_experimental { 4 } else { 2 };
        (header + self.len as usize).next_multiple_of(4)
    }
}

impl core::fmt::Debug for FastOpen {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let kind = if self.is_experimental { "experimental " } else { "" };
        write!(formatter, "{kind}{:02x?}", self.as_slice())
    }
}
