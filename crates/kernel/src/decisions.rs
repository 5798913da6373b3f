//! Prints PERT's decisions as they are made.

use crate::error::{Error, Result};
use crate::parameters::ONE;
use crate::status::{self, Loaded};
use libbpf_rs::{ErrorKind, RingBufferBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::Write;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The interval of checks whether it is still loaded.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// In the order of `enum outcome` (`bpf/window.h`).
const OUTCOMES: [&str; 5] = ["none", "response", "loss", "timeout", "mode"];
/// In the order of `enum mode` (`bpf/alpha.h`).
const MODES: [&str; 4] = ["none", "safe", "high-speed", "compete"];

/// A request to print decisions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    name: String,
    /// Whether to print every ACK, not only those that changed something.
    #[serde(default)]
    every_ack: bool,
}

/// Prints a line of JSON for each decision, until PERT is unloaded or the reader closes the pipe.
///
/// # Errors
/// If it is not loaded.
pub fn watch(request: &Watch) -> Result {
    let name = &request.name;
    let nothing =
        || Error::new(format!("--name: no PERT is loaded as `{name}`; `earlybird kernel status` says what is."));
    let loaded_one = status::registered(name).ok_or_else(nothing)?;
    let ring = loaded_one.decisions().ok_or_else(nothing)?;
    let is_read = std::cell::Cell::new(true);
    let mut builder = RingBufferBuilder::new();
    let write = |record: &[u8]| {
        let line = described(record).map(|decision| writeln!(std::io::stdout(), "{decision}"));
        // A closed pipe ends the loop.
        is_read.set(is_read.get() && matches!(line, Some(Ok(()))));
        0
    };
    builder.add(ring, write).map_err(|error| Error::context("the ring of decisions cannot be read", error))?;
    let ring = builder.build().map_err(|error| Error::context("the ring of decisions cannot be read", error))?;
    let has_ended = ended().map_err(|error| Error::context("signals cannot be waited for", error))?;
    let _wish = EveryAck::of(&loaded_one, request.every_ack);
    while is_read.get() && !has_ended.load(Ordering::Relaxed) && loaded_one.is_registered() {
        match ring.poll(POLL_INTERVAL) {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                return Err(Error::context("the ring of decisions cannot be read", error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns a flag that is set by SIGINT, SIGTERM and SIGHUP.
fn ended() -> std::io::Result<Arc<AtomicBool>> {
    let has_ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&has_ended))?;
    }
    Ok(has_ended)
}

/// Records of every ACK until this is dropped. After SIGKILL the switch stays on until the next watcher ends.
struct EveryAck<'a>(&'a Loaded);

impl<'a> EveryAck<'a> {
    fn of(loaded_one: &'a Loaded, every_ack: bool) -> Self {
        loaded_one.trace_every_ack(every_ack);
        Self(loaded_one)
    }
}

impl Drop for EveryAck<'_> {
    fn drop(&mut self) {
        self.0.trace_every_ack(false);
    }
}

/// Parses `struct decision` of `bpf/decisions.h`.
fn described(record: &[u8]) -> Option<Value> {
    let long = |place: usize| Some(u64::from_ne_bytes(record.get(place..place + 8)?.try_into().ok()?));
    let short = |place: usize| Some(u16::from_ne_bytes(record.get(place..place + 2)?.try_into().ok()?));
    let real = |place| Some(long(place)? as f64 / ONE);
    let millis = |place| Some(long(place)? as f64 / 1e6);
    let rtt = Some(millis(16)?).filter(|&rtt| rtt > 0.0);
    // All ones before the first sample.
    let smallest = Some(millis(32)?).filter(|_| long(32) != Some(u64::MAX));
    let (outcome, mode) = (OUTCOMES.get(usize::from(short(76)?))?, MODES.get(usize::from(short(78)?))?);
    let ssthresh = u32::from_ne_bytes(record.get(72..76)?.try_into().ok()?);
    let address: [u8; 4] = record.get(84..88)?.try_into().ok()?;
    let ack = |place: usize| Some(u32::from_ne_bytes(record.get(place..place + 4)?.try_into().ok()?));
    let mut decision = json!({
        "time_s": long(0)? as f64 / 1e9,
        "connection": long(8)?,
        "rtt_ms": rtt,
        "smoothed_rtt_ms": millis(24)?,
        "min_rtt_ms": smallest,
        "queueing_delay_ms": millis(40)?,
        "probability": real(48)?,
        "alpha": real(56)?,
        "cwnd": real(64)?,
        "ssthresh": ssthresh,
        "event": outcome,
        "mode": mode,
        "local_port": short(80)?,
        "remote": format!("{}:{}", Ipv4Addr::from(address), short(82)?),
    });
    if ack(96)? > 0 {
        // All zero for events without an ACK, such as timeouts.
        decision["ack"] =
            json!({ "una": ack(88)?, "nxt": ack(92)?, "acked": ack(96)?, "growth": ack(100)?, "draw": real(104)? });
    }
    Some(decision)
}
