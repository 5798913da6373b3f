//! The decision about callers, which libsrt asks for during their handshakes.

use crate::library::{Api, Handle, api};
use crate::socket::{CONFLICT, FORBIDDEN};
use libc::{c_char, c_int, c_void, sockaddr};
use socket2::SockAddr;
use std::ffi::CStr;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// State that a listener and libsrt's thread share.
#[derive(Debug)]
pub(crate) struct Gate {
    /// The required name of the stream; any if it is empty.
    stream: String,
    /// Whether no caller is accepted now.
    pub(crate) is_closed: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Callers whose handshake continues: libsrt does not report its failure.
    pending: Vec<(Handle, IpAddr)>,
    refusal: Option<String>,
}

/// The most handshakes to watch: callers beyond that are accepted, but their failures are not reported.
const MAX_PENDING: usize = 64;
/// The reason for which a handshake failed that was not rejected here: libsrt keeps none for a listener. Other failures,
/// such as its file mode, are rare.
const FAILED: &str = "probably another passphrase, or one on one side only";
/// The address of a caller that is not known.
const UNKNOWN: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);
/// `SRTS_BROKEN` (`srt.h`); larger values are those of closed sockets.
const BROKEN: c_int = 6;

impl Gate {
    pub(crate) fn new(stream: String) -> Self {
        Self { stream, is_closed: AtomicBool::new(false), state: Mutex::default() }
    }

    /// Returns the reason to reject a caller, as in `access_control.h`.
    fn reject(&self, stream: &[u8]) -> Option<c_int> {
        match () {
            () if !self.stream.is_empty() && self.stream.as_bytes() != stream => Some(FORBIDDEN),
            () if self.is_closed.load(Ordering::Relaxed) => Some(CONFLICT),
            () => None,
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends the watch of a caller that was accepted. Returns its address, unspecified if it was not watched.
    pub(crate) fn accepted(&self, handle: Handle) -> IpAddr {
        let place = |state: &State| state.pending.iter().position(|(pending, _)| *pending == handle);
        let caller = self.with(|state| place(state).map(|place| state.pending.swap_remove(place).1));
        caller.unwrap_or(UNKNOWN)
    }

    /// Returns the last refusal since the last call, and removes it.
    pub(crate) fn take_refusal(&self, api: &Api) -> Option<String> {
        self.with(|state| {
            // SAFETY: libsrt checks the handle.
            let is_closed = |handle: Handle| unsafe { (api.state)(handle) } >= BROKEN;
            let ended = state.pending.extract_if(.., |(handle, _)| is_closed(*handle));
            if let Some((_, from)) = ended.last() {
                state.refusal = Some(refusal(from, FAILED));
            }
            state.refusal.take()
        })
    }
}

fn refusal(from: IpAddr, reason: &str) -> String {
    format!("{from} was refused: {reason}")
}

/// Decides about a caller (`srt_listen_callback_fn`): 0 continues its handshake, -1 rejects it.
///
/// # Safety
///
/// `gate` must be a [`Gate`], and the other pointers as libsrt passes them.
pub(crate) unsafe extern "C" fn decide(
    gate: *mut c_void,
    handle: Handle,
    _: c_int,
    from: *const sockaddr,
    stream: *const c_char,
) -> c_int {
    // SAFETY: the caller guarantees the pointers; the gate is never freed.
    let (gate, from, stream) = unsafe { (&*gate.cast::<Gate>(), address(from), CStr::from_ptr(stream)) };
    let Ok(api) = api() else { return -1 };
    let Some(reason) = gate.reject(stream.to_bytes()) else {
        gate.with(|state| {
            if state.pending.len() < MAX_PENDING {
                state.pending.push((handle, from));
            }
        });
        return 0;
    };
    // SAFETY: libsrt checks the handle.
    unsafe { (api.set_reject_reason)(handle, reason) };
    gate.with(|state| state.refusal = Some(refusal(from, crate::socket::rejection(reason))));
    -1
}

/// Reads an address of IP.
///
/// # Safety
///
/// The pointer must be valid for the length of its family.
unsafe fn address(from: *const sockaddr) -> IpAddr {
    // SAFETY: the caller guarantees the length; a `sockaddr_storage` has room for either family.
    let copied = unsafe {
        SockAddr::try_init(|storage, length| {
            let is_v4 = c_int::from((*from).sa_family) == libc::AF_INET;
            *length = if is_v4 { size_of::<libc::sockaddr_in>() } else { size_of::<libc::sockaddr_in6>() } as u32;
            std::ptr::copy_nonoverlapping(from.cast::<u8>(), storage.cast::<u8>(), *length as usize);
            Ok(())
        })
    };
    let known = copied.ok().and_then(|((), address)| address.as_socket());
    known.map_or(UNKNOWN, |known| known.ip().to_canonical())
}
