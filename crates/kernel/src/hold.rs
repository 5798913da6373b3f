//! Loading for longer than a command: a process that holds the registration, or a pin.

use crate::check;
use crate::failure::{Failure, Outcome};
use crate::guard::{Guard, own_program};
use crate::instances::{self, Instance, pin_of, request_of};
use crate::namespaces::{self, Namespace, OWN};
use crate::parameters::Parameters;
use crate::program::{Ending, NAME_BYTES, Registered, register};
use crate::routes;
use crate::undo::Step;
use rustix::process::{Pid, Signal, kill_process, setsid};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{fs, thread};

/// What to load, and for whom.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Load {
    /// Under which it is registered.
    pub name: String,
    /// Keys and values as a person wrote them.
    pub settings: Vec<(String, String)>,
    /// Whose default it becomes.
    pub namespaces: Vec<String>,
    /// Routes that get it, in the namespaces or, without any, here; these keep their default then.
    pub routes: Vec<String>,
    /// Whether it stays until it is unloaded, without a process.
    pub pin: bool,
    /// Whether to do without what Linux has from 6.4 on, as a test does.
    pub as_before_links: bool,
}

/// Loads PERT and says what was loaded.
///
/// # Errors
/// If something about the request or the machine does not fit.
pub fn load(request: &Load) -> Outcome<Value> {
    check_name(&request.name)?;
    Parameters::read(&request.settings)?;
    check::ensure(&request.name)?;
    open_all(request)?;
    if request.pin { pin(request) } else { start_holder(request) }
}

/// Names are what the kernel takes for its objects (`bpf_obj_name_cpy`).
///
/// # Errors
/// If it cannot be one.
pub fn check_name(name: &str) -> Outcome {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "_.".contains(letter);
    if !name.is_empty() && name.len() < NAME_BYTES && name.chars().all(fits) {
        return Ok(());
    }
    let longest = NAME_BYTES - 1;
    Err(Failure::new(format!("--name: `{name}` does not fit; allowed: up to {longest} letters, digits, _ and dots.")))
}

fn open_all(request: &Load) -> Outcome<Vec<Namespace>> {
    let mut names = request.namespaces.clone();
    if names.is_empty() && !request.routes.is_empty() {
        names.push(OWN.to_owned());
    }
    names.iter().map(|name| Namespace::open(name)).collect()
}

fn pin(request: &Load) -> Outcome<Value> {
    check::ensure_pins()?;
    let parameters = Parameters::read(&request.settings)?;
    let mut registered = register(&request.name, &parameters, Ending::WithHolder, &mut |_| Ok(()))?;
    let path = pin_of(&request.name);
    registered.link.pin(&path).map_err(|error| Failure::of(&format!("{} cannot be written", path.display()), error))?;
    let applied = apply(request, &mut |_| Ok(()));
    if applied.is_err() {
        let _ = fs::remove_file(&path);
    }
    applied?;
    Ok(json!({ "name": request.name, "pinned": path }))
}

fn start_holder(request: &Load) -> Outcome<Value> {
    let mut child = own_program(&json!({ "hold": request }))?
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| Failure::of("the process that holds it cannot be started", error))?;
    let mut line = String::new();
    if let Some(answer) = child.stdout.take() {
        let _ = BufReader::new(answer).read_line(&mut line);
    }
    match serde_json::from_str::<Value>(&line) {
        Ok(Value::String(problem)) => Err(Failure::new(problem)),
        Ok(answer) => Ok(answer),
        Err(_) => Err(Failure::new("the process that holds it has ended early.")),
    }
}

/// Is the holder: loads, says so, and stays until it is told to end or loses its guard.
///
/// # Errors
/// If it cannot write its answer.
pub fn hold(request: &Load) -> Outcome {
    let _ = setsid();
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGCHLD])
        .map_err(|error| Failure::of("signals cannot be waited for", error))?;
    let mut guard = Guard::start()?;
    let begun = begin(request, &mut guard);
    answer(&match &begun {
        Ok(_) => json!({ "name": request.name, "holder": std::process::id() }),
        Err(failure) => json!(failure.to_string()),
    })?;
    if begun.is_ok() {
        // The commands that change routes end too.
        let mut is_over = |signal| signal != SIGCHLD || guard.has_ended();
        signals.forever().find(|&signal| is_over(signal));
    }
    guard.finish();
    drop(begun);
    Ok(())
}

fn begin(request: &Load, guard: &mut Guard) -> Outcome<Registered> {
    let ending = if request.as_before_links { Ending::OnRequest } else { Ending::best() };
    let parameters = Parameters::read(&request.settings)?;
    let registered = register(&request.name, &parameters, ending, &mut |step| guard.note(step))?;
    apply(request, &mut |step| guard.note(step))?;
    Ok(registered)
}

/// Answers with one line; the one who asked closes the pipe then.
fn answer(answer: &Value) -> Outcome {
    let mut out = std::io::stdout();
    writeln!(out, "{answer}").and_then(|()| out.flush()).map_err(|error| Failure::of("nobody listens", error))
}

fn apply(request: &Load, note: &mut dyn FnMut(Step) -> Outcome) -> Outcome {
    for namespace in open_all(request)? {
        if request.routes.is_empty() {
            make_default(&namespace, &request.name, note)?;
        }
        for destination in &request.routes {
            let before = routes::find(&namespace, destination)?;
            note(Step::Route { namespace: namespace.name.clone(), before: before.clone() })?;
            routes::set(&namespace, &before, &request.name)?;
        }
    }
    Ok(())
}

fn make_default(namespace: &Namespace, control: &str, note: &mut dyn FnMut(Step) -> Outcome) -> Outcome {
    let failed =
        |error| Failure::of(&format!("the default of the namespace `{}` cannot be set", namespace.name), error);
    let before = namespace.default_control().map_err(failed)?;
    note(Step::Default { namespace: namespace.name.clone(), control: control.to_owned(), before })?;
    namespace.set_default(control).map_err(failed)
}

/// How long a holder may take to end.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(5);

/// Takes PERT out again.
///
/// # Errors
/// If there is none of this name, or somebody uses it as a default.
pub fn unload(name: &str) -> Outcome<Value> {
    let Some(instance) = instances::registered(name) else {
        let loaded: Vec<_> = instances::all().into_iter().filter(Instance::is_registered).map(|one| one.name).collect();
        let loaded = if loaded.is_empty() { "nothing".into() } else { loaded.join(", ") };
        return Err(Failure::new(format!("--name: no PERT is loaded as `{name}`; loaded: {loaded}.")));
    };
    refuse_users(&instance)?;
    if let Some(path) = instance.pin() {
        fs::remove_file(&path).map_err(|error| Failure::of(&format!("{} cannot be removed", path.display()), error))?;
    } else if let Some(process) = instance.holder.and_then(|holder| Pid::from_raw(holder.cast_signed())) {
        kill_process(process, Signal::TERM).map_err(|error| Failure::of("its holder cannot be ended", error))?;
    }
    let started = now();
    while check::is_registered(name) || instance.holder.is_some_and(|process| request_of(process).is_some()) {
        if started.elapsed() > PATIENCE {
            return Err(Failure::new(format!(
                "`{name}` is still there: who holds it? `earlybird kernel status` may say."
            )));
        }
        thread::sleep(PAUSE);
    }
    Ok(json!({ "name": name }))
}

#[allow(clippy::disallowed_methods, reason = "how long to wait for a process is asked of the machine's clock")]
fn now() -> Instant {
    Instant::now()
}

/// A namespace whose default it is would go on creating connections with it, and a route would take the next of that name.
fn refuse_users(instance: &Instance) -> Outcome {
    let own =
        instance.holder.and_then(request_of).and_then(|request| serde_json::from_value(request["hold"].clone()).ok());
    let own: Load = own.unwrap_or_default();
    for namespace in namespaces::with_default(&instance.name) {
        if !own.routes.is_empty() || !is_among(&namespace, &own.namespaces) {
            let (space, name, command) = (&namespace.name, &instance.name, namespace.reset_command());
            return Err(Failure::new(format!(
                "the namespace `{space}` has `{name}` as its default. Reset it: `{command}`."
            )));
        }
    }
    Ok(())
}

fn is_among(namespace: &Namespace, names: &[String]) -> bool {
    names.iter().any(|name| Namespace::open(name).is_ok_and(|other| other.is(namespace)))
}
