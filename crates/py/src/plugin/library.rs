//! Controls from libraries, by the C interface of the template.

use super::abi::{Event, Message, NO_RATE, Output, Setup, Table, VERSION};
use super::failure::Raised;
use earlybird_scenario::ScenarioError;
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::ptr::NonNull;

/// The function that returns the table of a library.
const SYMBOL: &str = "earlybird_control";
/// Files that may be loaded.
const ALLOWED: &str =
    "a library that a folder of `earlybird new --control` gives (target/release/lib*.so), or a file of Python (*.py)";

/// A library that is loaded until the end of the process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Library(&'static Functions);

/// A table, with a name for debugging.
struct Functions(Table);

// SAFETY: the table is constant, and its functions may be called from any thread, as the trait of the template promises.
unsafe impl Sync for Functions {}

impl std::fmt::Debug for Functions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Functions")
    }
}

/// The control of one connection.
#[derive(Debug)]
pub(super) struct Instance {
    library: Library,
    control: NonNull<c_void>,
}

// SAFETY: one connection owns it, and only one thread at a time has a connection.
unsafe impl Send for Instance {}

/// Loads a library and checks that it is a control of this version.
pub(super) fn open(path: &Path) -> Result<Library, ScenarioError> {
    let refused = |problem: String| ScenarioError::new(&path.display().to_string(), problem);
    let not_a_control = |reason: &dyn ToString| {
        // The message of the loader begins with the path, which the error has already.
        let reason = reason.to_string().replace(&format!("{}: ", path.display()), "");
        refused(format!("is not a congestion control: {reason}")).allowed(ALLOWED)
    };
    // SAFETY: initializers of a library do what they like; the user named it.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| not_a_control(&error))?;
    // SAFETY: the symbol is a function of this type in every version.
    let function = unsafe { library.get::<unsafe extern "C" fn() -> *const Functions>(SYMBOL) };
    let function = function.map_err(|error| not_a_control(&error))?;
    // SAFETY: as above.
    let table = unsafe { function() };
    // SAFETY: the version is the first field in every version.
    let version = unsafe { table.cast::<u32>().as_ref() }.copied().unwrap_or_default();
    if version != VERSION {
        return Err(refused(format!("has version {version} of the interface between earlybird and controls"))
            .allowed(format!("version {VERSION}"))
            .hint("copy src/abi.rs and src/glue.rs from a folder that `earlybird new --control` makes now, and build again."));
    }
    // Its code must outlive all windows.
    std::mem::forget(library);
    // SAFETY: the version is this one, so that the table is, and it is static.
    Ok(Library(unsafe { &*table }))
}

impl Library {
    pub(super) fn name(self) -> String {
        text(self.0.0.name)
    }

    pub(super) fn title(self) -> String {
        text(self.0.0.title)
    }

    pub(super) const fn is_paced(self) -> bool {
        self.0.0.is_paced != 0
    }

    pub(super) fn make(self, setup: &Setup) -> Result<(Instance, Output), Raised> {
        let mut output = Output { cwnd: 0.0, pacing_rate: NO_RATE };
        let mut message = Message { length: 0, bytes: [0; 252] };
        // SAFETY: all pointers are valid for the call.
        let control = unsafe { (self.0.0.create)(setup, &raw mut output, &raw mut message) };
        let control = NonNull::new(control).ok_or_else(|| panicked(&message))?;
        Ok((Instance { library: self, control }, output))
    }
}

impl Instance {
    pub(super) fn handle(&mut self, event: &Event) -> Result<Output, Raised> {
        let mut output = Output { cwnd: 0.0, pacing_rate: NO_RATE };
        let mut message = Message { length: 0, bytes: [0; 252] };
        let handle = self.library.0.0.handle;
        // SAFETY: the control is from `create` of the same library, and all pointers are valid for the call.
        let status = unsafe { handle(self.control.as_ptr(), event, &raw mut output, &raw mut message) };
        if status == 0 { Ok(output) } else { Err(panicked(&message)) }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: it is from `create` of the same library, and dropped once.
        unsafe { (self.library.0.0.destroy)(self.control.as_ptr()) };
    }
}

fn panicked(message: &Message) -> Raised {
    let length = (message.length as usize).min(message.bytes.len());
    Raised::Error { line: None, text: format!("panicked ({})", String::from_utf8_lossy(&message.bytes[..length])) }
}

fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: the interface demands a static text that NUL ends.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}
