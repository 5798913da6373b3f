//! Numbers of protocols in IP headers (IANA, "Assigned Internet Protocol Numbers").

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
pub(crate) const ICMP: u8 = 1;
pub(crate) const ICMP_V6: u8 = 58;
