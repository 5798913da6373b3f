//! The expiry of quinn's probe timer, which only its log reports.

use std::cell::Cell;
use std::fmt;
use std::sync::LazyLock;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Dispatch, Event, Metadata, Subscriber, dispatcher};

/// The target, fields and message of the event in quinn (`on_loss_detection_timeout`).
const PLACE: &str = "quinn_proto::connection";
const FIELDS: [&str; 3] = ["in_flight", "count", "space"];
const WORDS: &str = "PTO fired";

thread_local! {
    static PROBES: Cell<u64> = const { Cell::new(0) };
}

/// Calls a function of quinn. Returns how often its probe timer expired meanwhile.
pub(crate) fn probes_of(act: impl FnOnce()) -> u64 {
    static READER: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(Reader));
    // Per thread: runs in other threads have their own count.
    PROBES.set(0);
    dispatcher::with_default(&READER, act);
    PROBES.get()
}

/// Reads this one line of the log: all others cost quinn nothing.
struct Reader;

impl Subscriber for Reader {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // "Sometimes" and not "always": other subscribers of the process must not get quinn's events cached as enabled.
        if self.enabled(metadata) { Interest::sometimes() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == PLACE && FIELDS.iter().all(|name| metadata.fields().field(name).is_some())
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        // Spans are ignored, but an id must not be zero.
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Words);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

struct Words;

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" && format!("{value:?}") == WORDS {
            PROBES.set(PROBES.get() + 1);
        }
    }
}
