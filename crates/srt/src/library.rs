//! The functions of libsrt that are used.

use libc::{c_char, c_int, c_void, size_t, sockaddr};
use libloading::Library;
use std::ffi::CStr;
use std::io;
use std::sync::OnceLock;

/// `SRTSOCKET` (`srt.h`).
pub(crate) type Handle = c_int;
/// `srt_listen_callback_fn` (`srt.h`).
pub(crate) type ListenCallback =
    unsafe extern "C" fn(*mut c_void, Handle, c_int, *const sockaddr, *const c_char) -> c_int;
/// `SRT_LOG_HANDLER_FN` (`logging_api.h`).
type LogHandler = unsafe extern "C" fn(*mut c_void, c_int, *const c_char, c_int, *const c_char, *const c_char);

/// The names of the library: of Debian's packages with either cryptographic library, and of other distributions.
const NAMES: [&str; 3] = ["libsrt-gnutls.so.1.5", "libsrt-openssl.so.1.5", "libsrt.so.1.5"];
/// The message if there is none.
const HINT: &str = "srt:// needs libsrt 1.5, which is not installed: `apt install libsrt1.5-openssl` (Debian, Ubuntu), \
                    `dnf install srt-libs` (Fedora), `pacman -S srt` (Arch)";

/// Declares a table of the library's functions, and how it is filled.
macro_rules! functions {
    ($($name:ident: $symbol:literal $type:ty,)*) => {
        /// Functions of libsrt 1.5, with the signatures of its `srt.h`.
        #[derive(Debug)]
        pub(crate) struct Api { $(pub(crate) $name: $type,)* }

        impl Api {
            /// Resolves all functions.
            ///
            /// # Safety
            ///
            /// The library must be libsrt 1.5, and must never be unloaded.
            unsafe fn resolve(library: &Library) -> Result<Self, libloading::Error> {
                // SAFETY: the types are those of `srt.h`, as the caller has libsrt.
                Ok(unsafe { Self { $($name: *library.get::<$type>($symbol)?,)* } })
            }
        }
    };
}

functions! {
    startup: "srt_startup" unsafe extern "C" fn() -> c_int,
    set_log_handler: "srt_setloghandler" unsafe extern "C" fn(*mut c_void, LogHandler),
    create: "srt_create_socket" unsafe extern "C" fn() -> Handle,
    close: "srt_close" unsafe extern "C" fn(Handle) -> c_int,
    bind: "srt_bind" unsafe extern "C" fn(Handle, *const sockaddr, c_int) -> c_int,
    listen: "srt_listen" unsafe extern "C" fn(Handle, c_int) -> c_int,
    listen_callback: "srt_listen_callback" unsafe extern "C" fn(Handle, ListenCallback, *mut c_void) -> c_int,
    accept: "srt_accept" unsafe extern "C" fn(Handle, *mut sockaddr, *mut c_int) -> Handle,
    connect: "srt_connect" unsafe extern "C" fn(Handle, *const sockaddr, c_int) -> c_int,
    set_option: "srt_setsockflag" unsafe extern "C" fn(Handle, c_int, *const c_void, c_int) -> c_int,
    option: "srt_getsockflag" unsafe extern "C" fn(Handle, c_int, *mut c_void, *mut c_int) -> c_int,
    state: "srt_getsockstate" unsafe extern "C" fn(Handle) -> c_int,
    send: "srt_sendmsg" unsafe extern "C" fn(Handle, *const c_char, c_int, c_int, c_int) -> c_int,
    receive: "srt_recvmsg" unsafe extern "C" fn(Handle, *mut c_char, c_int) -> c_int,
    send_buffer: "srt_getsndbuffer" unsafe extern "C" fn(Handle, *mut size_t, *mut size_t) -> c_int,
    last_error: "srt_getlasterror" unsafe extern "C" fn(*mut c_int) -> c_int,
    last_error_text: "srt_getlasterror_str" unsafe extern "C" fn() -> *const c_char,
    reject_reason: "srt_getrejectreason" unsafe extern "C" fn(Handle) -> c_int,
    set_reject_reason: "srt_setrejectreason" unsafe extern "C" fn(Handle, c_int) -> c_int,
}

static API: OnceLock<Result<Api, String>> = OnceLock::new();

/// Loads libsrt.
///
/// # Errors
///
/// [`io::ErrorKind::NotFound`] if it is not installed; the message names the package.
pub fn require() -> io::Result<()> {
    api().map(drop)
}

pub(crate) fn api() -> io::Result<&'static Api> {
    let loaded = API.get_or_init(load).as_ref();
    loaded.map_err(|problem| io::Error::new(io::ErrorKind::NotFound, problem.clone()))
}

fn load() -> Result<Api, String> {
    // SAFETY: initialising libsrt has no preconditions.
    let library = NAMES.iter().find_map(|name| unsafe { Library::new(*name) }.ok()).ok_or(HINT)?;
    // Never unloaded: libsrt's threads run until the process ends.
    let library = Box::leak(Box::new(library));
    // SAFETY: the names contain the version of the interface, and the library is leaked.
    let api = unsafe { Api::resolve(library) }.map_err(|error| format!("libsrt: {error}"))?;
    // SAFETY: the signatures are those of `srt.h`; the handler uses none of its arguments.
    unsafe {
        // Otherwise libsrt prints errors of handshakes, which are reported by other means, to the error stream.
        (api.set_log_handler)(std::ptr::null_mut(), discard_log);
        if (api.startup)() < 0 {
            return Err(format!("libsrt does not start: {}", api.error_text()));
        }
    }
    Ok(api)
}

/// A log handler that discards messages.
unsafe extern "C" fn discard_log(
    _: *mut c_void,
    _: c_int,
    _: *const c_char,
    _: c_int,
    _: *const c_char,
    _: *const c_char,
) {
}

impl Api {
    /// Returns the text of this thread's last error.
    pub(crate) fn error_text(&self) -> String {
        // SAFETY: the text is valid until the next call of this thread, and is copied here.
        unsafe { CStr::from_ptr((self.last_error_text)()) }.to_string_lossy().into_owned()
    }

    /// Returns this thread's last error, and the system's error number behind it.
    pub(crate) fn error_code(&self) -> (c_int, c_int) {
        let mut errno = 0;
        // SAFETY: the pointer is valid during the call.
        let code = unsafe { (self.last_error)(&raw mut errno) };
        (code, errno)
    }
}
