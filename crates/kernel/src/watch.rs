//! PERT's decisions, as they are made.

use crate::failure::{Failure, Outcome};
use crate::instances::{self, Instance};
use crate::parameters::ONE;
use libbpf_rs::{ErrorKind, RingBufferBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::Write;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often to look whether it is still loaded.
const TURN: Duration = Duration::from_millis(200);
/// In the order of `enum outcome` (`bpf/window.h`) …
const OUTCOMES: [&str; 5] = ["none", "response", "loss", "timeout", "mode"];
/// … and of `enum mode` (`bpf/alpha.h`).
const MODES: [&str; 4] = ["none", "safe", "high-speed", "compete"];

/// Whom to watch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    name: String,
    /// Tell what every ACK brought, not only what decided something.
    #[serde(default)]
    every_ack: bool,
}

/// Writes a line of JSON for each decision until it is unloaded or nobody reads any more.
///
/// # Errors
/// If it is not loaded.
pub fn watch(request: &Watch) -> Outcome {
    let name = &request.name;
    let nothing =
        || Failure::new(format!("--name: no PERT is loaded as `{name}`; `earlybird kernel status` says what is."));
    let instance = instances::registered(name).ok_or_else(nothing)?;
    let ring = instance.decisions().ok_or_else(nothing)?;
    let is_read = std::cell::Cell::new(true);
    let mut builder = RingBufferBuilder::new();
    let write = |record: &[u8]| {
        let line = described(record).map(|decision| writeln!(std::io::stdout(), "{decision}"));
        is_read.set(is_read.get() && matches!(line, Some(Ok(()))));
        0
    };
    builder.add(ring, write).map_err(|error| Failure::of("the ring of decisions cannot be read", error))?;
    let ring = builder.build().map_err(|error| Failure::of("the ring of decisions cannot be read", error))?;
    let has_ended = ended().map_err(|error| Failure::of("signals cannot be waited for", error))?;
    let _wish = Wish::of(&instance, request.every_ack);
    while is_read.get() && !has_ended.load(Ordering::Relaxed) && instance.is_registered() {
        match ring.poll(TURN) {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                return Err(Failure::of("the ring of decisions cannot be read", error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Becomes true when somebody wants this process to end.
fn ended() -> std::io::Result<Arc<AtomicBool>> {
    let has_ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&has_ended))?;
    }
    Ok(has_ended)
}

/// Whether every ACK is told, until this is dropped; a watcher that is killed leaves its wish to the next one.
struct Wish<'a>(&'a Instance);

impl<'a> Wish<'a> {
    fn of(instance: &'a Instance, every_ack: bool) -> Self {
        instance.tell_every_ack(every_ack);
        Self(instance)
    }
}

impl Drop for Wish<'_> {
    fn drop(&mut self) {
        self.0.tell_every_ack(false);
    }
}

/// Reads `struct decision` of `bpf/decisions.h`.
fn described(record: &[u8]) -> Option<Value> {
    let long = |place: usize| Some(u64::from_ne_bytes(record.get(place..place + 8)?.try_into().ok()?));
    let short = |place: usize| Some(u16::from_ne_bytes(record.get(place..place + 2)?.try_into().ok()?));
    let real = |place| Some(long(place)? as f64 / ONE);
    let millis = |place| Some(long(place)? as f64 / 1e6);
    let rtt = Some(millis(16)?).filter(|&rtt| rtt > 0.0);
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
        decision["ack"] =
            json!({ "una": ack(88)?, "nxt": ack(92)?, "acked": ack(96)?, "growth": ack(100)?, "draw": real(104)? });
    }
    Some(decision)
}
