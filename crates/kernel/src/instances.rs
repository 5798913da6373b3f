//! Who has loaded PERT, with which parameters, and what it did: asked of the kernel, which knows.

use crate::check::{PINS, is_registered};
use crate::parameters::described;
use crate::program::{NAME_BYTES, PARAMETERS};
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The program by which PERT is known, and its maps; the kernel cuts names off.
const PROGRAM: &str = "pert_cong_avoid";
const COUNTERS: &str = ".data.counters";
const DECISIONS: &str = "decisions";
const WISHES: &str = ".data.wishes";
/// In the order of `struct counters` (`bpf/decisions.h`).
const COUNTED: [&str; 6] = ["connections", "open", "responses", "losses", "timeouts", "dropped"];
/// The place of `open` among them.
const OPEN: usize = 1;

/// One PERT in the kernel.
#[derive(Debug)]
pub struct Instance {
    /// Under which it is, or was, registered.
    pub name: String,
    /// The process that holds it.
    pub holder: Option<u32>,
    program: u32,
    numbers: Vec<u64>,
    counters: Vec<u64>,
    decisions: Option<MapHandle>,
    wishes: Option<MapHandle>,
}

impl Instance {
    /// Returns whether new connections can choose it; else it lives on in connections that have it.
    pub fn is_registered(&self) -> bool {
        (self.holder.is_some() || self.pin().is_some()) && is_registered(&self.name)
    }

    /// Returns whether somebody has it; else the kernel is about to forget it.
    fn is_used(&self) -> bool {
        self.is_registered() || self.counters.get(OPEN).is_some_and(|&open| open > 0)
    }

    /// Returns the file that holds it, if it is pinned.
    pub fn pin(&self) -> Option<PathBuf> {
        Some(pin_of(&self.name)).filter(|path| path.exists())
    }

    /// Returns the ring of its decisions.
    pub fn decisions(&self) -> Option<&MapHandle> {
        self.decisions.as_ref()
    }

    /// Lets it tell every ACK, or only what decides something; false if it cannot be told.
    pub fn tell_every_ack(&self, is_wished: bool) -> bool {
        let wish = u64::from(is_wished).to_ne_bytes();
        self.wishes.as_ref().is_some_and(|map| map.update(&0_u32.to_ne_bytes(), &wish, MapFlags::ANY).is_ok())
    }

    /// Describes it.
    pub fn described(&self) -> Value {
        let counters: serde_json::Map<_, _> =
            COUNTED.iter().zip(&self.counters).map(|(name, count)| ((*name).to_owned(), json!(count))).collect();
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

/// Returns the file that a control of this name is pinned as.
pub fn pin_of(name: &str) -> PathBuf {
    Path::new(PINS).join(format!("earlybird-{name}"))
}

/// Finds all PERTs that are loaded.
pub fn all() -> Vec<Instance> {
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    let programs = ProgInfoIter::with_query_opts(options).filter(|program| program.name == OsStr::new(PROGRAM));
    programs.filter_map(|program| instance(program.id, &program.map_ids)).filter(Instance::is_used).collect()
}

/// Finds the one that is registered under this name.
pub fn registered(name: &str) -> Option<Instance> {
    all().into_iter().find(|instance| instance.name == name && instance.is_registered())
}

fn instance(program: u32, maps: &[u32]) -> Option<Instance> {
    let maps: Vec<_> = maps.iter().filter_map(|&id| MapHandle::from_map_id(id).ok()).collect();
    let find = |name: &str| maps.iter().position(|map| is_called(map, name));
    let parameters = value(&maps[find(PARAMETERS)?])?;
    let (numbers, name) = parameters.split_at_checked(parameters.len().checked_sub(NAME_BYTES)?)?;
    let counters = find(COUNTERS).and_then(|place| value(&maps[place])).map(|bytes| words(&bytes)).unwrap_or_default();
    let (decisions, wishes) = (find(DECISIONS), find(WISHES));
    let mut maps: Vec<_> = maps.into_iter().map(Some).collect();
    let mut take = |place: Option<usize>| maps.get_mut(place?)?.take();
    Some(Instance {
        name: String::from_utf8_lossy(name).trim_end_matches('\0').to_owned(),
        holder: holder(program),
        program,
        numbers: words(numbers),
        counters,
        decisions: take(decisions),
        wishes: take(wishes),
    })
}

fn is_called(map: &MapHandle, name: &str) -> bool {
    let kept = name.len().min(NAME_BYTES - 1);
    map.name() == OsStr::new(&name[..kept])
}

fn value(map: &MapHandle) -> Option<Vec<u8>> {
    map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok()?
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).filter_map(|chunk| Some(u64::from_ne_bytes(chunk.try_into().ok()?))).collect()
}

/// Finds the process that has this program open.
fn holder(program: u32) -> Option<u32> {
    let wanted = format!("prog_id:\t{program}");
    let processes = fs::read_dir("/proc").ok()?.flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(|&process| holds(process, &wanted))
}

fn holds(process: u32, wanted: &str) -> bool {
    // Others may look at a program for a moment; a holder is one of ours.
    let is_ours =
        request_of(process).is_some_and(|request| request.get("hold").is_some() || request.get("run").is_some());
    let files = || fs::read_dir(format!("/proc/{process}/fdinfo")).into_iter().flatten().flatten();
    let has = |text: String| text.lines().any(|line| line == wanted);
    is_ours && files().any(|file| fs::read_to_string(file.path()).is_ok_and(has))
}

/// Returns the request that a process of this program was started with.
pub fn request_of(process: u32) -> Option<Value> {
    let line = fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let request = line.split(|&byte| byte == 0).nth(1)?;
    serde_json::from_slice(request).ok().filter(Value::is_object)
}
