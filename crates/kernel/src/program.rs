//! PERT's program, with its parameters, in the kernel.

use crate::check::has_links;
use crate::failure::{Failure, Outcome};
use crate::parameters::Parameters;
use crate::undo::Step;
use libbpf_rs::{Link, MapCore, Object, ObjectBuilder, OpenMapMut, OpenObject};
use std::ffi::OsStr;

const PERT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pert.bpf.o"));
const CHOOSE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/choose.bpf.o"));
/// A name in the kernel with the zero behind it (`TCP_CA_NAME_MAX`).
pub const NAME_BYTES: usize = 16;
/// The map of PERT's parameters …
pub const PARAMETERS: &str = ".rodata.parameters";
/// … of its registration, …
const OPERATIONS: &str = "pert";
/// … and the program that a test feeds without a socket.
const REPLAY: &str = "pert_replay";

/// PERT registered with the kernel; dropping it takes it out again.
#[derive(Debug)]
pub struct Registered {
    /// Holds the registration.
    pub link: Link,
    _object: Object,
}

/// Which of the two programs of the object to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    CongestionControl,
    Replay,
}

/// How a registration ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With the last process or file that holds its link (Linux 6.4).
    WithHolder,
    /// When somebody says so.
    OnRequest,
}

impl Ending {
    /// Returns the better one that this kernel has.
    pub fn best() -> Self {
        if has_links() { Self::WithHolder } else { Self::OnRequest }
    }
}

/// Registers PERT as congestion control `name`; `note` hears what has to be undone before it is done.
///
/// # Errors
/// If the kernel refuses; it has been asked before whether it can, see [`crate::check`].
pub fn register(
    name: &str,
    parameters: &Parameters,
    ending: Ending,
    note: &mut dyn FnMut(Step) -> Outcome,
) -> Outcome<Registered> {
    quietly();
    let mut open = open(PERT)?;
    write(&mut open, PARAMETERS, &bytes(parameters, name))?;
    rename(&mut open, name)?;
    choose(&mut open, Part::CongestionControl)?;
    if ending == Ending::OnRequest {
        // Without BPF_F_LINK, which libbpf has set.
        operations_of(&mut open)?.set_map_flags(0).map_err(|error| refused(&error))?;
    }
    let mut object = open.load().map_err(|error| refused(&error))?;
    let mut operations = object.maps_mut().find(|map| map.name() == OPERATIONS).ok_or_else(|| missing(OPERATIONS))?;
    if ending == Ending::OnRequest {
        note(Step::Registration(operations.info().map_err(|error| refused(&error))?.info.id))?;
    }
    let link = operations.attach_struct_ops().map_err(|error| refused(&error))?;
    Ok(Registered { link, _object: object })
}

/// Loads the same functions for a test, which calls [`Object::progs_mut`]'s only one step by step.
///
/// # Errors
/// If the kernel refuses.
pub fn load_replay(parameters: &Parameters) -> Outcome<Object> {
    quietly();
    let mut open = open(PERT)?;
    write(&mut open, PARAMETERS, &bytes(parameters, OPERATIONS))?;
    choose(&mut open, Part::Replay)?;
    open.load().map_err(|error| refused(&error))
}

/// Loads what gives the sockets of a control group a congestion control.
///
/// # Errors
/// If the kernel refuses.
pub fn load_chooser(name: &str) -> Outcome<Object> {
    quietly();
    let mut open = open(CHOOSE)?;
    write(&mut open, ".rodata.chosen", &padded(name))?;
    open.load().map_err(|error| refused(&error))
}

/// What libbpf has to say beside its errors is for programmers.
fn quietly() {
    libbpf_rs::set_print(None);
}

fn open(object: &[u8]) -> Outcome<OpenObject> {
    ObjectBuilder::default().open_memory(object).map_err(|error| Failure::of("the program cannot be read", error))
}

fn bytes(parameters: &Parameters, name: &str) -> Vec<u8> {
    let numbers = parameters.numbers();
    numbers.iter().flat_map(|number| number.to_ne_bytes()).chain(padded(name)).collect()
}

fn padded(name: &str) -> [u8; NAME_BYTES] {
    let mut bytes = [0; NAME_BYTES];
    bytes.iter_mut().zip(name.bytes().take(NAME_BYTES - 1)).for_each(|(to, from)| *to = from);
    bytes
}

fn write(open: &mut OpenObject, map: &str, bytes: &[u8]) -> Outcome {
    let mut map = open.maps_mut().find(|candidate| candidate.name() == map).ok_or_else(|| missing(map))?;
    map.set_initial_value(bytes).map_err(|error| Failure::of("the parameters do not fit the program", error))
}

/// The name stands at the end of the operations as `bpf/kernel.h` declares them.
fn rename(open: &mut OpenObject, name: &str) -> Outcome {
    let mut map = operations_of(open)?;
    let value = map.initial_value_mut().ok_or_else(|| missing(OPERATIONS))?;
    let written = padded(OPERATIONS);
    let place = value.windows(NAME_BYTES).position(|window| window == written).ok_or_else(|| missing(OPERATIONS))?;
    value[place..place + NAME_BYTES].copy_from_slice(&padded(name));
    Ok(())
}

fn operations_of(open: &mut OpenObject) -> Outcome<OpenMapMut<'_>> {
    open.maps_mut().find(|map| map.name() == OPERATIONS).ok_or_else(|| missing(OPERATIONS))
}

fn choose(open: &mut OpenObject, part: Part) -> Outcome {
    for mut program in open.progs_mut() {
        let is_replay = program.name() == OsStr::new(REPLAY);
        program.set_autoload(is_replay == (part == Part::Replay));
    }
    if part == Part::Replay {
        operations_of(open)?.set_autocreate(false).map_err(|error| refused(&error))?;
    }
    Ok(())
}

fn missing(part: &str) -> Failure {
    Failure::new(format!("the program has no `{part}`: build it anew with `make kernel`."))
}

fn refused(error: &libbpf_rs::Error) -> Failure {
    Failure::of("the kernel refuses the program; `earlybird kernel check` may say why", format!("{error:#}"))
}
