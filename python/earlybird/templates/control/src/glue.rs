//! Exports a control by the C interface. A panic ends at this border, and the run with its message: not to be edited.

use crate::abi::{ACK, Event, INTERVAL, LOSS, Message, NO_RATE, Output, RTO, Setup};
use std::any::Any;
use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::ptr;
use std::sync::Once;

/// A congestion control: one value for each connection. Windows count segments.
pub trait Control: Sized {
    /// Whether it sets a pacing rate. Then it also sets the window during recovery.
    const IS_PACED: bool = false;

    /// Begins when the handshake is done.
    fn new(setup: &Setup) -> Self;
    /// Processes an ACK.
    fn on_ack(&mut self, sample: &Event);
    /// Processes the beginning of a recovery, or an ECN mark: once per window of data.
    fn on_loss(&mut self, event: &Event);
    /// Processes a retransmission timeout.
    fn on_rto(&mut self, event: &Event);
    /// Processes the end of a round trip.
    fn on_interval(&mut self, _sample: &Event) {}
    /// Returns the congestion window in segments.
    fn cwnd(&self) -> f64;
    /// Returns the pacing rate in segments per second, if it is known.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
}

/// Defines `earlybird_control` for a type.
#[macro_export]
macro_rules! export {
    ($control:ty, $name:literal, $title:literal) => {
        /// Returns the table of this control.
        #[unsafe(no_mangle)]
        pub extern "C" fn earlybird_control() -> *const $crate::abi::Table {
            struct Shared($crate::abi::Table);
            // SAFETY: the table is constant, and its pointers are to constants.
            unsafe impl Sync for Shared {}
            static TABLE: Shared = Shared($crate::abi::Table {
                version: $crate::abi::VERSION,
                is_paced: <$control as $crate::glue::Control>::IS_PACED as u32,
                name: concat!($name, "\0").as_ptr().cast(),
                title: concat!($title, "\0").as_ptr().cast(),
                create: $crate::glue::create::<$control>,
                handle: $crate::glue::handle::<$control>,
                destroy: $crate::glue::destroy::<$control>,
            });
            &TABLE.0
        }
    };
}

/// # Safety
/// All pointers must be valid.
pub unsafe extern "C" fn create<C: Control>(
    setup: *const Setup,
    output: *mut Output,
    message: *mut Message,
) -> *mut c_void {
    static HOOK: Once = Once::new();
    HOOK.call_once(keep_locations);
    // SAFETY: the caller passes valid pointers.
    let made = catch_unwind(|| {
        let control = C::new(unsafe { &*setup });
        unsafe { *output = decision(&control) };
        Box::into_raw(Box::new(control)).cast()
    });
    made.unwrap_or_else(|panic| {
        unsafe { *message = text(&*panic) };
        ptr::null_mut()
    })
}

/// # Safety
/// All pointers must be valid, the first from [`create`].
pub unsafe extern "C" fn handle<C: Control>(
    control: *mut c_void,
    event: *const Event,
    output: *mut Output,
    message: *mut Message,
) -> u32 {
    // SAFETY: the caller passes valid pointers, and uses no control after a panic.
    let handled = catch_unwind(AssertUnwindSafe(|| unsafe {
        let control = &mut *control.cast::<C>();
        dispatch(control, &*event);
        *output = decision(control);
    }));
    match handled {
        Ok(()) => 0,
        Err(panic) => {
            unsafe { *message = text(&*panic) };
            1
        }
    }
}

/// # Safety
/// The pointer must be from [`create`].
pub unsafe extern "C" fn destroy<C: Control>(control: *mut c_void) {
    // SAFETY: `create` made it of a box.
    let _ = catch_unwind(|| drop(unsafe { Box::from_raw(control.cast::<C>()) }));
}

fn dispatch<C: Control>(control: &mut C, event: &Event) {
    match event.kind {
        ACK => control.on_ack(event),
        LOSS => control.on_loss(event),
        RTO => control.on_rto(event),
        INTERVAL => control.on_interval(event),
        _ => {}
    }
}

fn decision<C: Control>(control: &C) -> Output {
    Output { cwnd: control.cwnd(), pacing_rate: control.pacing_rate().unwrap_or(NO_RATE) }
}

thread_local! {
    static LOCATION: Cell<String> = const { Cell::new(String::new()) };
}

/// Keeps the place of a panic for its message, instead of printing it.
fn keep_locations() {
    set_hook(Box::new(|panic| LOCATION.set(panic.location().map(ToString::to_string).unwrap_or_default())));
}

fn text(panic: &(dyn Any + Send)) -> Message {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    let text = format!("{}: {text}", LOCATION.take());
    let length = text.len().min(252);
    let mut message = Message { length: length as u32, bytes: [0; 252] };
    message.bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    message
}
