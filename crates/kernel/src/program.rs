//! Loads PERT's eBPF programs and their parameters.

use crate::error::{Error, Result};
use crate::parameters::Parameters;
use crate::requirements::has_links;
use crate::undo::UndoStep;
use libbpf_rs::{Link, MapCore, Object, ObjectBuilder, OpenMapMut, OpenObject};
use std::ffi::OsStr;

const PERT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pert.bpf.o"));
const SELECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/select.bpf.o"));
/// Size of a congestion control's name with the terminating zero (`TCP_CA_NAME_MAX`).
pub const NAME_BYTES: usize = 16;
/// The map of parameters.
pub const PARAMETERS: &str = ".rodata.parameters";
/// The map of the registration (`struct_ops`).
const OPERATIONS: &str = "pert";
/// The program that tests call without a socket.
const REPLAY: &str = "pert_replay";

/// A registration with the kernel, which ends on drop.
#[derive(Debug)]
pub struct Registration {
    /// Holds the registration.
    pub link: Link,
    _object: Object,
}

/// Which programs of the object to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    CongestionControl,
    Replay,
}

/// The lifetime of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// With the last process or file that holds its link (Linux 6.4).
    WithHolder,
    /// Until it is deleted explicitly.
    OnRequest,
}

impl Lifetime {
    /// Returns the best one that this kernel supports.
    pub fn best() -> Self {
        if has_links() { Self::WithHolder } else { Self::OnRequest }
    }
}

/// Registers PERT as congestion control `name`. `note` is called with each undo step before its change.
///
/// # Errors
/// If the kernel refuses; see [`crate::requirements`].
pub fn register(
    name: &str,
    parameters: &Parameters,
    lifetime: Lifetime,
    note: &mut dyn FnMut(UndoStep) -> Result,
) -> Result<Registration> {
    suppress_libbpf_output();
    let mut open = open(PERT)?;
    write(&mut open, PARAMETERS, &bytes(parameters, name))?;
    rename(&mut open, name)?;
    select_program(&mut open, Program::CongestionControl)?;
    if lifetime == Lifetime::OnRequest {
        // Clears BPF_F_LINK, which libbpf sets: older kernels do not know it.
        operations_of(&mut open)?.set_map_flags(0).map_err(|error| refused(&error))?;
    }
    let mut object = open.load().map_err(|error| refused(&error))?;
    let mut operations = object.maps_mut().find(|map| map.name() == OPERATIONS).ok_or_else(|| missing(OPERATIONS))?;
    if lifetime == Lifetime::OnRequest {
        // The identifier of the map, as a process that takes over cannot use this process's descriptor.
        note(UndoStep::Registration(operations.info().map_err(|error| refused(&error))?.info.id))?;
    }
    let link = operations.attach_struct_ops().map_err(|error| refused(&error))?;
    Ok(Registration { link, _object: object })
}

/// Loads the replay program for tests, which call it step by step.
///
/// # Errors
/// If the kernel refuses.
pub fn load_replay(parameters: &Parameters) -> Result<Object> {
    suppress_libbpf_output();
    let mut open = open(PERT)?;
    write(&mut open, PARAMETERS, &bytes(parameters, OPERATIONS))?;
    select_program(&mut open, Program::Replay)?;
    open.load().map_err(|error| refused(&error))
}

/// Loads the program that selects a congestion control for the sockets of a cgroup.
///
/// # Errors
/// If the kernel refuses.
pub fn load_selector(name: &str) -> Result<Object> {
    suppress_libbpf_output();
    let mut open = open(SELECT)?;
    write(&mut open, ".rodata.selected", &padded(name))?;
    open.load().map_err(|error| refused(&error))
}

/// Turns off libbpf's messages: its errors are returned as well.
fn suppress_libbpf_output() {
    libbpf_rs::set_print(None);
}

fn open(object: &[u8]) -> Result<OpenObject> {
    ObjectBuilder::default().open_memory(object).map_err(|error| Error::context("the program cannot be read", error))
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

fn write(open: &mut OpenObject, map: &str, bytes: &[u8]) -> Result {
    let mut map = open.maps_mut().find(|candidate| candidate.name() == map).ok_or_else(|| missing(map))?;
    map.set_initial_value(bytes).map_err(|error| Error::context("the parameters do not fit the program", error))
}

/// Replaces the name in the operations: the last member in `bpf/kernel.h`.
fn rename(open: &mut OpenObject, name: &str) -> Result {
    let mut map = operations_of(open)?;
    let value = map.initial_value_mut().ok_or_else(|| missing(OPERATIONS))?;
    // The compiled-in name marks the position, which depends on the kernel's structure.
    let written = padded(OPERATIONS);
    let place = value.windows(NAME_BYTES).position(|window| window == written).ok_or_else(|| missing(OPERATIONS))?;
    value[place..place + NAME_BYTES].copy_from_slice(&padded(name));
    Ok(())
}

fn operations_of(open: &mut OpenObject) -> Result<OpenMapMut<'_>> {
    open.maps_mut().find(|map| map.name() == OPERATIONS).ok_or_else(|| missing(OPERATIONS))
}

fn select_program(open: &mut OpenObject, which: Program) -> Result {
    for mut program in open.progs_mut() {
        let is_replay = program.name() == OsStr::new(REPLAY);
        // Only one kind is loaded: the replay program needs no registration, and the congestion control no replay.
        program.set_autoload(is_replay == (which == Program::Replay));
    }
    if which == Program::Replay {
        operations_of(open)?.set_autocreate(false).map_err(|error| refused(&error))?;
    }
    Ok(())
}

fn missing(part: &str) -> Error {
    Error::new(format!("the program has no `{part}`: rebuild it with `make kernel`."))
}

fn refused(error: &libbpf_rs::Error) -> Error {
    Error::context("the kernel refuses the program; `earlybird kernel check` may say why", format!("{error:#}"))
}
