use super::{BUILT_IN, ControlTable, Entry};
use crate::shape;
use crate::transport::{FINE_GRAINED, Transport};
use earlybird_tcp::{Control, ControlFactory};
use std::any::Any;
use std::fmt;
use std::sync::{Mutex, PoisonError, RwLock};

/// What programs have registered.
static REGISTERED: RwLock<Vec<Entry>> = RwLock::new(Vec::new());

/// The controls that [`keep`] keeps.
static KEPT: RwLock<Vec<&'static dyn ControlFactory>> = RwLock::new(Vec::new());

/// Why a congestion control cannot be registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterError {
    /// The name is not made of small letters, digits and hyphens, or has an end that means something else.
    NotAName(&'static str),
    /// The name is that of another transport, or of another key of `endpoint`.
    Taken(&'static str),
}

impl fmt::Display for RegisterError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAName(name) => write!(
                formatter,
                "`{name}` is not a name for a congestion control: small letters, digits and hyphens, beginning with a letter, \
                 without the ends -er, -rack and -fg"
            ),
            Self::Taken(name) => {
                write!(formatter, "`{name}` is already the name of a transport or a key of `endpoint`")
            }
        }
    }
}

impl std::error::Error for RegisterError {}

/// Whoever registers has it.
static TURN: Mutex<()> = Mutex::new(());

/// Makes a congestion control known to scenarios, for the rest of the program: by its name as a transport, by its table in
/// `endpoint`, in the schema and in messages. To register it again changes nothing.
///
/// # Errors
/// The name cannot be had, see [`RegisterError`].
pub fn register<T: ControlTable>() -> Result<(), RegisterError> {
    // From the look at what is known to the change of it, one at a time: two threads may register the same.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = Entry::of::<T>();
    if entries().any(|known| (known.table)() == (entry.table)()) {
        return Ok(());
    }
    check_name(T::NAME)?;
    REGISTERED.write().unwrap_or_else(PoisonError::into_inner).push(entry);
    shape::renew();
    Ok(())
}

fn check_name(name: &'static str) -> Result<(), RegisterError> {
    let is_part = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let has_end = ["-er", "-rack", FINE_GRAINED].iter().any(|end| name.ends_with(end));
    if has_end || !name.starts_with(|letter: char| letter.is_ascii_lowercase()) || !name.chars().all(is_part) {
        return Err(RegisterError::NotAName(name));
    }
    let is_taken = name.parse::<Transport>().is_ok() || shape::endpoint().child(name).is_some();
    if is_taken { Err(RegisterError::Taken(name)) } else { Ok(()) }
}

/// Returns all controls, first those of `earlybird-tcp`.
pub(crate) fn entries() -> impl Iterator<Item = Entry> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner).clone();
    BUILT_IN.iter().copied().chain(registered)
}

/// Returns the control of this name.
pub(crate) fn entry_of(name: &str) -> Option<Entry> {
    entries().find(|entry| entry.name == name)
}

/// Keeps a control from outside `earlybird-tcp` for the rest of the program, once for equal ones, so that configurations can
/// have it.
pub fn keep<F: ControlFactory + PartialEq>(factory: F) -> Control {
    let mut kept = KEPT.write().unwrap_or_else(PoisonError::into_inner);
    let same = |known: &&'static dyn ControlFactory| (*known as &dyn Any).downcast_ref::<F>() == Some(&factory);
    if let Some(known) = kept.iter().copied().find(same) {
        return Control::custom(known);
    }
    let new: &'static dyn ControlFactory = Box::leak(Box::new(factory));
    kept.push(new);
    Control::custom(new)
}
