//! Loaded congestion controls, with their parameters and counters, as queried from the kernel.

use crate::parameters::described;
use crate::program::{NAME_BYTES, PARAMETERS};
use crate::requirements::{PINS, is_registered};
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The names of PERT's main program and of its maps; the kernel truncates them.
const PROGRAM: &str = "pert_cong_avoid";
const COUNTERS: &str = ".data.counters";
const DECISIONS: &str = "decisions";
const SWITCHES: &str = ".data.switches";
/// The counters, in the order of `struct counters` (`bpf/decisions.h`).
const COUNTER_NAMES: [&str; 6] = ["connections", "open", "responses", "losses", "timeouts", "dropped"];
/// The index of `open`.
const OPEN: usize = 1;

/// A loaded PERT.
#[derive(Debug)]
pub struct Loaded {
    /// The name under which it is or was registered.
    pub name: String,
    /// The process that holds it.
    pub holder: Option<u32>,
    program: u32,
    numbers: Vec<u64>,
    counters: Vec<u64>,
    decisions: Option<MapHandle>,
    switches: Option<MapHandle>,
}

impl Loaded {
    /// Returns whether new connections can use it; otherwise only existing connections do.
    pub fn is_registered(&self) -> bool {
        (self.holder.is_some() || self.pin().is_some()) && is_registered(&self.name)
    }

    /// Returns whether it is in use; otherwise the kernel is about to free it.
    fn is_used(&self) -> bool {
        self.is_registered() || self.counters.get(OPEN).is_some_and(|&open| open > 0)
    }

    /// Returns its pin, if there is one.
    pub fn pin(&self) -> Option<PathBuf> {
        Some(pin_of(&self.name)).filter(|path| path.exists())
    }

    /// Returns the ring buffer of its decisions.
    pub fn decisions(&self) -> Option<&MapHandle> {
        self.decisions.as_ref()
    }

    /// Enables or disables a record for every ACK. Returns whether that succeeded.
    pub fn trace_every_ack(&self, is_on: bool) -> bool {
        let value = u64::from(is_on).to_ne_bytes();
        self.switches.as_ref().is_some_and(|map| map.update(&0_u32.to_ne_bytes(), &value, MapFlags::ANY).is_ok())
    }

    /// Returns its description.
    pub fn described(&self) -> Value {
        let counters: serde_json::Map<_, _> =
            COUNTER_NAMES.iter().zip(&self.counters).map(|(name, count)| ((*name).to_owned(), json!(count))).collect();
        json!({
            "name": self.name,
            "registered": self.is_registered(),
            "holder": self.holder,
            "pinned": self.pin(),
            "program": self.program,
            "parameters": described(&self.numbers),
            "counters": counters,
        })
    }
}

/// Returns the path of the pin of a name.
pub fn pin_of(name: &str) -> PathBuf {
    Path::new(PINS).join(format!("earlybird-{name}"))
}

/// Returns all loaded PERTs.
pub fn all() -> Vec<Loaded> {
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    // By program, not by map: programs are what a registration keeps alive.
    let programs = ProgInfoIter::with_query_opts(options).filter(|program| program.name == OsStr::new(PROGRAM));
    programs.filter_map(|program| loaded_one(program.id, &program.map_ids)).filter(Loaded::is_used).collect()
}

/// Returns the one that is registered under this name.
pub fn registered(name: &str) -> Option<Loaded> {
    all().into_iter().find(|loaded_one| loaded_one.name == name && loaded_one.is_registered())
}

fn loaded_one(program: u32, maps: &[u32]) -> Option<Loaded> {
    let maps: Vec<_> = maps.iter().filter_map(|&id| MapHandle::from_map_id(id).ok()).collect();
    let find = |name: &str| maps.iter().position(|map| is_called(map, name));
    // The name is stored behind the parameters, as the kernel does not report names of struct_ops.
    let parameters = value(&maps[find(PARAMETERS)?])?;
    // The name is the last member of `struct parameters`.
    let (numbers, name) = parameters.split_at_checked(parameters.len().checked_sub(NAME_BYTES)?)?;
    let counters = find(COUNTERS).and_then(|place| value(&maps[place])).map(|bytes| words(&bytes)).unwrap_or_default();
    let (decisions, switches) = (find(DECISIONS), find(SWITCHES));
    let mut maps: Vec<_> = maps.into_iter().map(Some).collect();
    let mut take = |place: Option<usize>| maps.get_mut(place?)?.take();
    Some(Loaded {
        name: String::from_utf8_lossy(name).trim_end_matches('\0').to_owned(),
        holder: holder(program),
        program,
        numbers: words(numbers),
        counters,
        decisions: take(decisions),
        switches: take(switches),
    })
}

fn is_called(map: &MapHandle, name: &str) -> bool {
    // The kernel truncates map names to 15 characters.
    let kept = name.len().min(NAME_BYTES - 1);
    map.name() == OsStr::new(&name[..kept])
}

fn value(map: &MapHandle) -> Option<Vec<u8>> {
    map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok()?
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).filter_map(|chunk| Some(u64::from_ne_bytes(chunk.try_into().ok()?))).collect()
}

/// Returns the process that holds this program.
fn holder(program: u32) -> Option<u32> {
    let wanted = format!("prog_id:\t{program}");
    let processes = fs::read_dir("/proc").ok()?.flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(|&process| holds(process, &wanted))
}

fn holds(process: u32, wanted: &str) -> bool {
    // Other programs (`bpftool`) may have it open for a moment; a holder is a process of this program.
    let is_ours =
        request_of(process).is_some_and(|request| request.get("hold").is_some() || request.get("run").is_some());
    let files = || fs::read_dir(format!("/proc/{process}/fdinfo")).into_iter().flatten().flatten();
    let has = |text: String| text.lines().any(|line| line == wanted);
    is_ours && files().any(|file| fs::read_to_string(file.path()).is_ok_and(has))
}

/// Returns the request of a process of this program.
pub fn request_of(process: u32) -> Option<Value> {
    // Requests are arguments, so that /proc identifies the processes of this program.
    let line = fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let request = line.split(|&byte| byte == 0).nth(1)?;
    serde_json::from_slice(request).ok().filter(Value::is_object)
}
