//! Whether this machine can: each condition with what to do where it is not met.

use crate::failure::{Failure, Outcome};
use crate::groups::Tree;
use crate::namespaces::read_line;
use rustix::system::uname;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// The first kernel that this is meant for: the oldest long-term one in which a program may write all that it writes.
const LEAST_KERNEL: (u32, u32) = (6, 1);
/// The first one in which a registration ends with its holder.
const LINKS: (u32, u32) = (6, 4);
/// Bits of `CapEff` (`include/uapi/linux/capability.h`).
const CAPABILITIES: [(u32, &str); 3] = [(12, "CAP_NET_ADMIN"), (38, "CAP_PERFMON"), (39, "CAP_BPF")];
const CAP_SYS_ADMIN: u32 = 21;
/// How the kernel must have been built, where it says so.
const OPTIONS: [&str; 4] = ["CONFIG_BPF_SYSCALL", "CONFIG_BPF_JIT", "CONFIG_DEBUG_INFO_BTF", "CONFIG_INET"];
/// What only `run` asks for.
const CGROUP_OPTION: &str = "CONFIG_CGROUP_BPF";

/// One condition.
#[derive(Clone, Debug, Serialize)]
pub struct Condition {
    /// What is asked for.
    pub name: &'static str,
    /// Whether it is met; `None` where that cannot be seen.
    pub met: Option<bool>,
    /// What was found.
    pub found: String,
    /// What to do, if it is not met.
    pub advice: String,
}

impl Condition {
    fn new(name: &'static str, met: impl Into<Option<bool>>, found: impl Into<String>, advice: &str) -> Self {
        let met = met.into();
        Self { name, met, found: found.into(), advice: if met == Some(true) { String::new() } else { advice.into() } }
    }

    /// Says in one line what is missing.
    fn complaint(&self) -> String {
        format!("{}: {}. {}", self.name, self.found, self.advice)
    }
}

/// Returns all conditions for a control of this name.
pub fn conditions(name: &str) -> Vec<Condition> {
    vec![kernel(), options(), types(), rights(), is_free(name), control_groups(), file_system(), runs_everywhere()]
}

/// Makes sure that a control of this name can be loaded.
///
/// # Errors
/// The first condition that is not met.
pub fn ensure(name: &str) -> Outcome {
    let needed = [kernel(), options(), types(), rights(), is_free(name)];
    needed
        .iter()
        .find(|condition| condition.met == Some(false))
        .map_or(Ok(()), |condition| Err(Failure::new(condition.complaint())))
}

/// Says why no program can be loaded here; `None` if one can.
pub fn obstacle() -> Option<String> {
    let needed = [kernel(), options(), types(), rights()];
    needed.iter().find(|condition| condition.met == Some(false)).map(Condition::complaint)
}

fn kernel() -> Condition {
    let advice = format!("Run a kernel of version {}.{} or later.", LEAST_KERNEL.0, LEAST_KERNEL.1);
    Condition::new("kernel", version() >= LEAST_KERNEL, format!("Linux {}", release()), &advice)
}

fn release() -> String {
    uname().release().to_string_lossy().into_owned()
}

fn version() -> (u32, u32) {
    let release = release();
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Returns whether a registration can end with its holder.
pub fn has_links() -> bool {
    version() >= LINKS
}

fn options() -> Condition {
    let name = "options of the kernel";
    let Some(text) = configuration() else {
        return Condition::new(name, None, "neither /proc/config.gz nor a file in /boot tells them", "");
    };
    let missing: Vec<_> = OPTIONS.into_iter().filter(|option| !has(&text, option)).collect();
    let found = if missing.is_empty() { OPTIONS.join(", ") } else { format!("without {}", missing.join(", ")) };
    Condition::new(
        name,
        missing.is_empty(),
        found,
        "Run a kernel that is built with these options, as distributions' are.",
    )
}

fn has(configuration: &str, option: &str) -> bool {
    configuration.lines().any(|line| line.strip_prefix(option) == Some("=y"))
}

/// Reads how the kernel was built, with `zcat` as everybody would.
fn configuration() -> Option<String> {
    let packed = std::process::Command::new("zcat").arg("/proc/config.gz").output().ok();
    let packed = packed.filter(|output| output.status.success()).map(|output| output.stdout);
    let text = packed.or_else(|| fs::read(format!("/boot/config-{}", release())).ok())?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Where the kernel describes its types (BTF).
const TYPES: &str = "/sys/kernel/btf/vmlinux";

fn types() -> Condition {
    let (met, found) = match fs::File::open(TYPES) {
        Ok(_) => (true, TYPES.to_owned()),
        Err(error) => (false, format!("{TYPES}: {error}")),
    };
    let advice =
        "The kernel must describe its types: run one built with CONFIG_DEBUG_INFO_BTF=y, and have /sys mounted.";
    Condition::new("types of the kernel (BTF)", met, found, advice)
}

/// What kernels add to `bpf_prog_aux` that run no program while process 1 is the current task (`docs/kernel.md`), and Linux has not.
const SKIP: &[u8] = b"\0init_owned\0";

/// Looks for it among the names of the kernel's types. It forbids nothing: PERT makes up for most of it.
fn runs_everywhere() -> Condition {
    let name = "programs run whatever is interrupted";
    let Ok(types) = fs::read(TYPES) else {
        return Condition::new(name, None, format!("{TYPES} cannot be read"), "");
    };
    if skips(&types) {
        let found = "perhaps not: this kernel knows programs that are `init_owned`, and skips others where process 1 is interrupted. \
                     A loss that PERT is not asked about so is made up for with the next ACK, after one burst";
        return Condition::new(name, None, found, "With very many connections take a kernel without it");
    }
    Condition::new(name, true, "this kernel has no `init_owned`", "")
}

fn skips(types: &[u8]) -> bool {
    types.windows(SKIP.len()).any(|window| window == SKIP)
}

fn rights() -> Condition {
    let held = effective_capabilities();
    let has = |bit: u32| held >> bit & 1 == 1;
    let missing: Vec<_> = CAPABILITIES
        .iter()
        .filter(|(bit, _)| !(has(*bit) || *bit > CAP_SYS_ADMIN && has(CAP_SYS_ADMIN)))
        .map(|&(_, name)| name)
        .collect();
    let found = if missing.is_empty() { "enough".into() } else { format!("without {}", missing.join(", ")) };
    Condition::new("rights", missing.is_empty(), found, "Run as root (`sudo`).")
}

fn effective_capabilities() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0)
}

fn is_free(name: &str) -> Condition {
    let taken = is_registered(name);
    let found = format!("`{name}` is {}", if taken { "taken" } else { "free" });
    let advice = format!(
        "`earlybird kernel status` says by whom; `earlybird kernel unload --name {name}` takes it out, or load it by another name \
         (`--name`)."
    );
    Condition::new("name", !taken, found, &advice)
}

/// Returns whether the kernel knows a congestion control of this name.
pub fn is_registered(name: &str) -> bool {
    registered().iter().any(|known| known == name)
}

/// Returns the congestion controls that the kernel knows.
pub fn registered() -> Vec<String> {
    let names = read_line(Path::new("/proc/sys/net/ipv4/tcp_available_congestion_control")).unwrap_or_default();
    names.split_whitespace().map(str::to_owned).collect()
}

fn control_groups() -> Condition {
    let name = "control groups (`run` only)";
    if configuration().is_some_and(|text| !has(&text, CGROUP_OPTION)) {
        return Condition::new(name, false, format!("without {CGROUP_OPTION}"), "Run a kernel built with this option.");
    }
    match Tree::open() {
        Ok(_) => Condition::new(name, true, "version 2", ""),
        Err(error) => {
            Condition::new(name, false, format!("version 2 cannot be mounted: {error}"), "Run as root (`sudo`).")
        }
    }
}

/// Where a load that is meant to stay is pinned.
pub const PINS: &str = "/sys/fs/bpf";

fn file_system() -> Condition {
    let advice = format!("Mount it: `mount -t bpf bpf {PINS}`.");
    let found = mounted("bpf").filter(|place| place == Path::new(PINS));
    let text = found.as_ref().map_or("is not mounted".into(), |place| place.display().to_string());
    Condition::new("file system of BPF (`--pin` only)", found.is_some(), text, &advice)
}

/// Makes sure that something can be pinned.
///
/// # Errors
/// If BPF's file system is not mounted, or the kernel is too old.
pub fn ensure_pins() -> Outcome {
    if !has_links() {
        let found = release();
        return Err(Failure::new(format!(
            "--pin: Linux {found} holds no registrations by files; allowed from 6.4 on."
        )));
    }
    let condition = file_system();
    if condition.met == Some(true) { Ok(()) } else { Err(Failure::new(condition.complaint())) }
}

/// Returns the first place where a file system of this kind is mounted.
fn mounted(kind: &str) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let line =
        mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>()).find(|words| words.get(2) == Some(&kind))?;
    line.get(1).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_skips_programs_is_known_by_the_name_of_a_field() {
        assert!(skips(b"\0bpf_prog_aux\0init_owned\0id\0"));
        assert!(!skips(b"\0bpf_prog_aux\0not_init_owned\0id\0"));
    }
}
