//! Runs one command with PERT: in a cgroup whose sockets get it, without changing a default.

use crate::cgroups::{self, CgroupTree};
use crate::cleanup::{Cleanup, this_program};
use crate::error::{Error, Result};
use crate::parameters::Parameters;
use crate::pin::check_name;
use crate::program::{Lifetime, Registration, load_selector, register};
use crate::requirements;
use crate::undo::UndoStep;
use libbpf_rs::{Link, Object};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use serde_json::json;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, id};

/// A request to run a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The name of the congestion control.
    pub name: String,
    /// Parameters as keys and values.
    pub settings: Vec<(String, String)>,
    /// The command and its arguments.
    pub command: Vec<String>,
}

/// A request to execute a command in a cgroup.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enter {
    group: PathBuf,
    command: Vec<String>,
}

/// Resources that must exist while the command runs.
#[derive(Debug)]
struct CommandSetup {
    group: PathBuf,
    _attached: Link,
    _selector: Object,
    _registered: Registration,
}

/// Runs a command and returns its exit code, as shells report it.
///
/// # Errors
/// If the request is invalid or a requirement is not met.
pub fn run(request: &Run) -> Result<i32> {
    check_name(&request.name)?;
    if request.command.is_empty() {
        return Err(Error::new(
            "there is no command to run; write it behind `--`, such as `-- curl http://example.org`.",
        ));
    }
    let parameters = Parameters::read(&request.settings)?;
    requirements::ensure(&request.name)?;
    // Before the command starts, so that its end cannot be missed.
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGCHLD])
        .map_err(|error| Error::context("signals cannot be waited for", error))?;
    let mut cleanup = Cleanup::start()?;
    let code = set_up(&request.name, &parameters, &mut cleanup).and_then(|setup| {
        let child = spawn(&setup.group, &request.command)?;
        wait(child, &mut signals, &mut cleanup)
    });
    cleanup.finish();
    code
}

fn set_up(name: &str, parameters: &Parameters, cleanup: &mut Cleanup) -> Result<CommandSetup> {
    let tree = CgroupTree::open().map_err(|error| no_group(&error))?;
    let group = cgroups::own().join(format!("earlybird-{name}-{}", id()));
    // The order matters: the cgroup program selects the control by name, so that it must be registered.
    let registered = register(name, parameters, Lifetime::best(), &mut |step| cleanup.note(step))?;
    cleanup.note(UndoStep::ControlGroup(group.clone()))?;
    fs::create_dir(tree.folder(&group)).map_err(|error| no_group(&error))?;
    let selector = load_selector(name)?;
    let attached = attach(&selector, &tree.folder(&group))?;
    Ok(CommandSetup { group, _attached: attached, _selector: selector, _registered: registered })
}

fn no_group(error: &io::Error) -> Error {
    let advice = "`earlybird kernel load --namespace self` makes it the default of the namespace instead";
    Error::context(&format!("a control group for the command cannot be created ({advice})"), error)
}

fn attach(selector: &Object, group: &Path) -> Result<Link> {
    let failed = |error: &dyn std::fmt::Display| Error::context("the control group's sockets cannot be reached", error);
    let folder = File::open(group).map_err(|error| failed(&error))?;
    let program = selector.progs_mut().next().ok_or_else(|| failed(&"there is no program"))?;
    program.attach_cgroup(folder.as_raw_fd()).map_err(|error| failed(&error))
}

fn spawn(group: &Path, command: &[String]) -> Result<Child> {
    // A process must enter the cgroup before it executes the command: its first socket would be missed.
    let request = Enter { group: group.to_owned(), command: command.to_vec() };
    this_program(&json!({ "enter": request }))?
        .spawn()
        .map_err(|error| Error::context("the command cannot be started", error))
}

/// Enters the cgroup and executes the command.
///
/// # Errors
/// If the program does not exist.
pub fn enter(request: &Enter) -> Result {
    CgroupTree::open()
        .and_then(|tree| fs::write(tree.folder(&request.group).join("cgroup.procs"), "0"))
        .map_err(|error| Error::context("the control group cannot be entered", error))?;
    let [program, arguments @ ..] = &request.command[..] else {
        return Ok(());
    };
    let error = Command::new(program).args(arguments).exec();
    Err(Error::context(program, error))
}

/// Waits for the command and forwards signals. A terminal sends Ctrl-C to the command itself.
fn wait(mut child: Child, signals: &mut Signals, cleanup: &mut Cleanup) -> Result<i32> {
    for signal in signals.forever() {
        match signal {
            SIGTERM => forward(&child, Signal::TERM),
            SIGHUP => forward(&child, Signal::HUP),
            // Without its cleanup process a command could outlive its registration.
            SIGCHLD if cleanup.has_ended() => forward(&child, Signal::KILL),
            _ => {}
        }
        let ended = child.try_wait().map_err(|error| Error::context("the command cannot be waited for", error))?;
        if let Some(status) = ended {
            return Ok(code(status));
        }
    }
    Err(Error::new("the command was lost."))
}

fn forward(child: &Child, signal: Signal) {
    if let Some(process) = Pid::from_raw(child.id().cast_signed()) {
        let _ = kill_process(process, signal);
    }
}

fn code(status: ExitStatus) -> i32 {
    // 128 plus the signal, as shells do.
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}
