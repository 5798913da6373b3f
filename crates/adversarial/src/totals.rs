use earlybird_wire::Malformed;
use std::collections::BTreeMap;
use std::fmt;

/// Totals of experiments.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Packets by kind.
    pub packets: BTreeMap<&'static str, u64>,
    /// Packets that the parser refused, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Segments that connections processed.
    pub segments: u64,
    /// Segments that connections sent.
    pub answers: u64,
    /// Payload bytes that were offered to receivers.
    pub offered: u64,
    /// Payload bytes that they kept.
    pub kept: u64,
    /// Payload bytes that they delivered in order.
    pub delivered: u64,
    /// Connections that were created.
    pub connections: u64,
    /// Conversations that delivered every byte.
    pub completed: u64,
}

impl Totals {
    pub(crate) fn packet(&mut self, kind: &'static str) {
        *self.packets.entry(kind).or_default() += 1;
    }

    pub(crate) fn refuse(&mut self, reason: Malformed) {
        let reason = match reason {
            Malformed::Protocol(_) => "another protocol".into(),
            Malformed::Extension(_) => "an IPv6 extension header".into(),
            Malformed::IcmpKind(_) => "an ICMP message that reports nothing".into(),
            reason => reason.to_string(),
        };
        *self.refused.entry(reason).or_default() += 1;
    }

    /// Returns the number of packets of all kinds.
    pub fn total(&self) -> u64 {
        self.packets.values().sum()
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "packets: {}", self.total())?;
        for (kind, count) in &self.packets {
            writeln!(formatter, "  {count:>12}  {kind}")?;
        }
        writeln!(formatter, "refused: {}", self.refused.values().sum::<u64>())?;
        for (reason, count) in &self.refused {
            writeln!(formatter, "  {count:>12}  {reason}")?;
        }
        writeln!(
            formatter,
            "connections: {}, of which conversations to their end: {}",
            self.connections, self.completed
        )?;
        writeln!(formatter, "segments given: {}, answered with: {}", self.segments, self.answers)?;
        write!(formatter, "payload offered: {}, kept: {}, delivered: {} bytes", self.offered, self.kept, self.delivered)
    }
}
