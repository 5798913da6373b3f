//! The requirements of PERT in the kernel, with advice where one is not met.

use crate::cgroups::CgroupTree;
use crate::error::{Error, Result};
use crate::namespaces::read_line;
use rustix::system::uname;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// The first supported kernel: the oldest long-term one in which a program may write all fields that PERT writes.
const MIN_KERNEL: (u32, u32) = (6, 1);
/// The first kernel in which a registration ends with its holder (`BPF_F_LINK`).
const LINKS: (u32, u32) = (6, 4);
/// Capabilities and their bits in `CapEff` (`include/uapi/linux/capability.h`).
const CAPABILITIES: [(u32, &str); 3] = [(12, "CAP_NET_ADMIN"), (38, "CAP_PERFMON"), (39, "CAP_BPF")];
const CAP_SYS_ADMIN: u32 = 21;
/// The required options of the kernel's configuration, if it is readable.
const OPTIONS: [&str; 4] = ["CONFIG_BPF_SYSCALL", "CONFIG_BPF_JIT", "CONFIG_DEBUG_INFO_BTF", "CONFIG_INET"];
/// The option that only `run` needs.
const CGROUP_OPTION: &str = "CONFIG_CGROUP_BPF";

/// A requirement.
#[derive(Clone, Debug, Serialize)]
pub struct Requirement {
    /// Its name.
    pub name: &'static str,
    /// Whether it is met; `None` if unknown.
    pub met: Option<bool>,
    /// The state that was found.
    pub found: String,
    /// Advice if it is not met.
    pub advice: String,
}

impl Requirement {
    fn new(name: &'static str, met: impl Into<Option<bool>>, found: impl Into<String>, advice: &str) -> Self {
        let met = met.into();
        Self { name, met, found: found.into(), advice: if met == Some(true) { String::new() } else { advice.into() } }
    }

    /// Returns what is missing, in one line.
    fn message(&self) -> String {
        format!("{}: {}. {}", self.name, self.found, self.advice)
    }
}

/// Returns all requirements for a congestion control of this name.
pub fn all(name: &str) -> Vec<Requirement> {
    vec![kernel(), options(), types(), rights(), is_free(name), control_groups(), file_system(), runs_everywhere()]
}

/// Checks that a congestion control of this name can be loaded.
///
/// # Errors
/// The first requirement that is not met.
pub fn ensure(name: &str) -> Result {
    // The others concern single commands, which check them themselves.
    let needed = [kernel(), options(), types(), rights(), is_free(name)];
    needed
        .iter()
        .find(|requirement| requirement.met == Some(false))
        .map_or(Ok(()), |requirement| Err(Error::new(requirement.message())))
}

/// Returns why no program can be loaded; `None` if one can.
pub fn obstacle() -> Option<String> {
    let needed = [kernel(), options(), types(), rights()];
    needed.iter().find(|requirement| requirement.met == Some(false)).map(Requirement::message)
}

fn kernel() -> Requirement {
    let advice = format!("Run a kernel of version {}.{} or later.", MIN_KERNEL.0, MIN_KERNEL.1);
    Requirement::new("kernel", version() >= MIN_KERNEL, format!("Linux {}", release()), &advice)
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

fn options() -> Requirement {
    let name = "options of the kernel";
    let Some(text) = configuration() else {
        return Requirement::new(name, None, "neither /proc/config.gz nor a file in /boot exists", "");
    };
    let missing: Vec<_> = OPTIONS.into_iter().filter(|option| !has(&text, option)).collect();
    let found = if missing.is_empty() { OPTIONS.join(", ") } else { format!("without {}", missing.join(", ")) };
    Requirement::new(
        name,
        missing.is_empty(),
        found,
        "Run a kernel that is built with these options, as distributions' are.",
    )
}

fn has(configuration: &str, option: &str) -> bool {
    // Built in: as modules these options do not exist.
    configuration.lines().any(|line| line.strip_prefix(option) == Some("=y"))
}

/// Reads the configuration of the kernel; `zcat` avoids a dependency for one file.
fn configuration() -> Option<String> {
    let packed = std::process::Command::new("zcat").arg("/proc/config.gz").output().ok();
    let packed = packed.filter(|output| output.status.success()).map(|output| output.stdout);
    let text = packed.or_else(|| fs::read(format!("/boot/config-{}", release())).ok())?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The type information of the kernel (BTF).
const TYPES: &str = "/sys/kernel/btf/vmlinux";

fn types() -> Requirement {
    let (met, found) = match fs::File::open(TYPES) {
        Ok(_) => (true, TYPES.to_owned()),
        Err(error) => (false, format!("{TYPES}: {error}")),
    };
    let advice =
        "The kernel must describe its types: run one built with CONFIG_DEBUG_INFO_BTF=y, and have /sys mounted.";
    Requirement::new("types of the kernel (BTF)", met, found, advice)
}

/// A field of `bpf_prog_aux` in kernels that skip programs while process 1 is the current task (`docs/kernel.md`); Linux does not
/// have it.
const SKIP: &[u8] = b"\0init_owned\0";

/// Looks for it among the names of the kernel's types. It forbids nothing: PERT makes up for most of it.
fn runs_everywhere() -> Requirement {
    let name = "programs run whatever is interrupted";
    let Ok(types) = fs::read(TYPES) else {
        return Requirement::new(name, None, format!("{TYPES} cannot be read"), "");
    };
    if skips(&types) {
        let found = "perhaps not: this kernel knows programs that are `init_owned`, and skips others where process 1 is interrupted. \
                     A loss that PERT is not asked about so is made up for with the next ACK, after one burst";
        return Requirement::new(name, None, found, "With very many connections take a kernel without it");
    }
    Requirement::new(name, true, "this kernel has no `init_owned`", "")
}

fn skips(types: &[u8]) -> bool {
    types.windows(SKIP.len()).any(|window| window == SKIP)
}

fn rights() -> Requirement {
    let undos = effective_capabilities();
    let has = |bit: u32| undos >> bit & 1 == 1;
    let missing: Vec<_> = CAPABILITIES
        .iter()
        .filter(|(bit, _)| !(has(*bit) || *bit > CAP_SYS_ADMIN && has(CAP_SYS_ADMIN)))
        .map(|&(_, name)| name)
        .collect();
    let found = if missing.is_empty() { "enough".into() } else { format!("without {}", missing.join(", ")) };
    Requirement::new("rights", missing.is_empty(), found, "Run as root (`sudo`).")
}

fn effective_capabilities() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0)
}

fn is_free(name: &str) -> Requirement {
    let taken = is_registered(name);
    let found = format!("`{name}` is {}", if taken { "taken" } else { "free" });
    let advice = format!(
        "`earlybird kernel status` shows its holder; `earlybird kernel unload --name {name}` removes it, or load it by another name \
         (`--name`)."
    );
    Requirement::new("name", !taken, found, &advice)
}

/// Returns whether a congestion control of this name is registered.
pub fn is_registered(name: &str) -> bool {
    registered().iter().any(|known| known == name)
}

/// Returns the registered congestion controls.
pub fn registered() -> Vec<String> {
    let names = read_line(Path::new("/proc/sys/net/ipv4/tcp_available_congestion_control")).unwrap_or_default();
    names.split_whitespace().map(str::to_owned).collect()
}

fn control_groups() -> Requirement {
    let name = "control groups (`run` only)";
    if configuration().is_some_and(|text| !has(&text, CGROUP_OPTION)) {
        return Requirement::new(
            name,
            false,
            format!("without {CGROUP_OPTION}"),
            "Run a kernel built with this option.",
        );
    }
    match CgroupTree::open() {
        Ok(_) => Requirement::new(name, true, "version 2", ""),
        Err(error) => {
            Requirement::new(name, false, format!("version 2 cannot be mounted: {error}"), "Run as root (`sudo`).")
        }
    }
}

/// The folder of pins.
pub const PINS: &str = "/sys/fs/bpf";

fn file_system() -> Requirement {
    let advice = format!("Mount it: `mount -t bpf bpf {PINS}`.");
    let found = mounted("bpf").filter(|place| place == Path::new(PINS));
    let text = found.as_ref().map_or("is not mounted".into(), |place| place.display().to_string());
    Requirement::new("file system of BPF (`--pin` only)", found.is_some(), text, &advice)
}

/// Checks that pins are supported.
///
/// # Errors
/// If bpffs is not mounted, or the kernel is too old.
pub fn ensure_pins() -> Result {
    if !has_links() {
        let found = release();
        return Err(Error::new(format!("--pin: Linux {found} holds no registrations by files; allowed from 6.4 on.")));
    }
    let requirement = file_system();
    if requirement.met == Some(true) { Ok(()) } else { Err(Error::new(requirement.message())) }
}

/// Returns the first mount point of a file system type.
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
