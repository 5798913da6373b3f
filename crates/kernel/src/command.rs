//! PERT for one command: a control group whose sockets get it, without anybody's default.

use crate::check;
use crate::failure::{Failure, Outcome};
use crate::groups::{self, Tree};
use crate::guard::{Guard, own_program};
use crate::hold::check_name;
use crate::parameters::Parameters;
use crate::program::{Ending, Registered, load_chooser, register};
use crate::undo::Step;
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

/// A command and the PERT it gets.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Under which it is registered.
    pub name: String,
    /// Keys and values as a person wrote them.
    pub settings: Vec<(String, String)>,
    /// The program with its arguments.
    pub command: Vec<String>,
}

/// A program to become, inside a control group.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enter {
    group: PathBuf,
    command: Vec<String>,
}

/// What the command's sockets need as long as it runs.
#[derive(Debug)]
struct Arrangement {
    group: PathBuf,
    _attached: Link,
    _chooser: Object,
    _registered: Registered,
}

/// Runs a command; gives its exit code, as shells say it.
///
/// # Errors
/// If something about the request or the machine does not fit.
pub fn run(request: &Run) -> Outcome<i32> {
    check_name(&request.name)?;
    if request.command.is_empty() {
        return Err(Failure::new(
            "there is no command to run; write it behind `--`, such as `-- curl http://example.org`.",
        ));
    }
    let parameters = Parameters::read(&request.settings)?;
    check::ensure(&request.name)?;
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGCHLD])
        .map_err(|error| Failure::of("signals cannot be waited for", error))?;
    let mut guard = Guard::start()?;
    let code = arrange(&request.name, &parameters, &mut guard).and_then(|arrangement| {
        let child = spawn(&arrangement.group, &request.command)?;
        wait(child, &mut signals, &mut guard)
    });
    guard.finish();
    code
}

fn arrange(name: &str, parameters: &Parameters, guard: &mut Guard) -> Outcome<Arrangement> {
    let tree = Tree::open().map_err(|error| no_group(&error))?;
    let group = groups::own().join(format!("earlybird-{name}-{}", id()));
    let registered = register(name, parameters, Ending::best(), &mut |step| guard.note(step))?;
    guard.note(Step::ControlGroup(group.clone()))?;
    fs::create_dir(tree.folder(&group)).map_err(|error| no_group(&error))?;
    let chooser = load_chooser(name)?;
    let attached = attach(&chooser, &tree.folder(&group))?;
    Ok(Arrangement { group, _attached: attached, _chooser: chooser, _registered: registered })
}

fn no_group(error: &io::Error) -> Failure {
    let advice = "`earlybird kernel load --namespace self` makes it everybody's default in place of that";
    Failure::of(&format!("a control group for the command cannot be made ({advice})"), error)
}

fn attach(chooser: &Object, group: &Path) -> Outcome<Link> {
    let failed = |error: &dyn std::fmt::Display| Failure::of("the control group's sockets cannot be reached", error);
    let folder = File::open(group).map_err(|error| failed(&error))?;
    let program = chooser.progs_mut().next().ok_or_else(|| failed(&"there is no program"))?;
    program.attach_cgroup(folder.as_raw_fd()).map_err(|error| failed(&error))
}

fn spawn(group: &Path, command: &[String]) -> Outcome<Child> {
    let request = Enter { group: group.to_owned(), command: command.to_vec() };
    own_program(&json!({ "enter": request }))?
        .spawn()
        .map_err(|error| Failure::of("the command cannot be started", error))
}

/// Becomes the command, once inside its control group.
///
/// # Errors
/// If there is no such program.
pub fn enter(request: &Enter) -> Outcome {
    Tree::open()
        .and_then(|tree| fs::write(tree.folder(&request.group).join("cgroup.procs"), "0"))
        .map_err(|error| Failure::of("the control group cannot be entered", error))?;
    let [program, arguments @ ..] = &request.command[..] else {
        return Ok(());
    };
    let error = Command::new(program).args(arguments).exec();
    Err(Failure::of(program, error))
}

/// Waits for the command, and passes on what should end it; a terminal sends Ctrl-C to it as well.
fn wait(mut child: Child, signals: &mut Signals, guard: &mut Guard) -> Outcome<i32> {
    for signal in signals.forever() {
        match signal {
            SIGTERM => pass_on(&child, Signal::TERM),
            SIGHUP => pass_on(&child, Signal::HUP),
            SIGCHLD if guard.has_ended() => pass_on(&child, Signal::KILL),
            _ => {}
        }
        let ended = child.try_wait().map_err(|error| Failure::of("the command cannot be waited for", error))?;
        if let Some(status) = ended {
            return Ok(code(status));
        }
    }
    Err(Failure::new("the command was lost."))
}

fn pass_on(child: &Child, signal: Signal) {
    if let Some(process) = Pid::from_raw(child.id().cast_signed()) {
        let _ = kill_process(process, signal);
    }
}

fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}
