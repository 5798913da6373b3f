//! Loads PERT beyond one command: held by a process, or pinned to a file.

use crate::cleanup::{Cleanup, this_program};
use crate::error::{Error, Result};
use crate::namespaces::{self, Namespace, OWN};
use crate::parameters::Parameters;
use crate::program::{Lifetime, NAME_BYTES, Registration, register};
use crate::requirements;
use crate::routes;
use crate::status::{self, Loaded, pin_of, request_of};
use crate::undo::UndoStep;
use rustix::process::{Pid, Signal, kill_process, setsid};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{fs, thread};

/// A request to load PERT.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Load {
    /// The name of the congestion control.
    pub name: String,
    /// Parameters as keys and values.
    pub settings: Vec<(String, String)>,
    /// Namespaces whose default it becomes.
    pub namespaces: Vec<String>,
    /// Destinations whose routes get it, in these namespaces or the current one; their defaults stay.
    pub routes: Vec<String>,
    /// Whether it is pinned instead of held by a process.
    pub pin: bool,
    /// Whether to avoid features of Linux 6.4 and later, for tests.
    pub as_before_links: bool,
}

/// Loads PERT and describes it.
///
/// # Errors
/// If the request is invalid or a requirement is not met.
pub fn load(request: &Load) -> Result<Value> {
    check_name(&request.name)?;
    Parameters::read(&request.settings)?;
    requirements::ensure(&request.name)?;
    open_all(request)?;
    if request.pin { pin(request) } else { start_holder(request) }
}

/// Checks that the kernel accepts the name (`bpf_obj_name_cpy`).
///
/// # Errors
/// If it is invalid.
pub fn check_name(name: &str) -> Result {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "_.".contains(letter);
    if !name.is_empty() && name.len() < NAME_BYTES && name.chars().all(fits) {
        return Ok(());
    }
    let longest = NAME_BYTES - 1;
    Err(Error::new(format!("--name: `{name}` does not fit; allowed: up to {longest} letters, digits, _ and dots.")))
}

fn open_all(request: &Load) -> Result<Vec<Namespace>> {
    let mut names = request.namespaces.clone();
    if names.is_empty() && !request.routes.is_empty() {
        // Routes need a namespace: without one, the current namespace is meant.
        names.push(OWN.to_owned());
    }
    names.iter().map(|name| Namespace::open(name)).collect()
}

fn pin(request: &Load) -> Result<Value> {
    requirements::ensure_pins()?;
    let parameters = Parameters::read(&request.settings)?;
    let mut registered = register(&request.name, &parameters, Lifetime::WithHolder, &mut |_| Ok(()))?;
    let path = pin_of(&request.name);
    registered
        .link
        .pin(&path)
        .map_err(|error| Error::context(&format!("{} cannot be written", path.display()), error))?;
    let applied = apply(request, &mut |_| Ok(()));
    // A pin without its namespaces would be left behind.
    if applied.is_err() {
        let _ = fs::remove_file(&path);
    }
    applied?;
    Ok(json!({ "name": request.name, "pinned": path }))
}

fn start_holder(request: &Load) -> Result<Value> {
    let mut child = this_program(&json!({ "hold": request }))?
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| Error::context("the process that holds it cannot be started", error))?;
    let mut line = String::new();
    // The holder replies once and keeps running: wait for the line, not for its end.
    if let Some(answer) = child.stdout.take() {
        let _ = BufReader::new(answer).read_line(&mut line);
    }
    match serde_json::from_str::<Value>(&line) {
        Ok(Value::String(problem)) => Err(Error::new(problem)),
        Ok(answer) => Ok(answer),
        Err(_) => Err(Error::new("the process that holds it has ended early.")),
    }
}

/// Runs the holder process: loads, replies, and waits for a signal or the end of the cleanup process.
///
/// # Errors
/// If the reply cannot be written.
pub fn hold(request: &Load) -> Result {
    // A signal to the terminal's process group must not end the holder.
    let _ = setsid();
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGCHLD])
        .map_err(|error| Error::context("signals cannot be waited for", error))?;
    let mut cleanup = Cleanup::start()?;
    let begun = begin(request, &mut cleanup);
    answer(&match &begun {
        Ok(_) => json!({ "name": request.name, "holder": std::process::id() }),
        Err(error) => json!(error.to_string()),
    })?;
    if begun.is_ok() {
        // `ip` processes cause SIGCHLD, too.
        let mut ends = |signal| signal != SIGCHLD || cleanup.has_ended();
        signals.forever().find(|&signal| ends(signal));
    }
    // Before the registration is dropped: defaults must be restored while the old control still exists.
    cleanup.finish();
    drop(begun);
    Ok(())
}

fn begin(request: &Load, cleanup: &mut Cleanup) -> Result<Registration> {
    let lifetime = if request.as_before_links { Lifetime::OnRequest } else { Lifetime::best() };
    let parameters = Parameters::read(&request.settings)?;
    let registered = register(&request.name, &parameters, lifetime, &mut |step| cleanup.note(step))?;
    apply(request, &mut |step| cleanup.note(step))?;
    Ok(registered)
}

/// Replies with one line. The parent closes the pipe after it.
fn answer(answer: &Value) -> Result {
    let mut out = std::io::stdout();
    writeln!(out, "{answer}")
        .and_then(|()| out.flush())
        .map_err(|error| Error::context("the output cannot be written", error))
}

fn apply(request: &Load, note: &mut dyn FnMut(UndoStep) -> Result) -> Result {
    for namespace in open_all(request)? {
        if request.routes.is_empty() {
            make_default(&namespace, &request.name, note)?;
        }
        // A route keeps its other attributes: it is changed in the format in which it was shown.
        for destination in &request.routes {
            let before = routes::find(&namespace, destination)?;
            note(UndoStep::Route { namespace: namespace.name.clone(), before: before.clone() })?;
            routes::set(&namespace, &before, &request.name)?;
        }
    }
    Ok(())
}

fn make_default(namespace: &Namespace, control: &str, note: &mut dyn FnMut(UndoStep) -> Result) -> Result {
    let failed =
        |error| Error::context(&format!("the default of the namespace `{}` cannot be set", namespace.name), error);
    let before = namespace.default_control().map_err(failed)?;
    // Recorded before the change: if this process is killed in between, undoing is harmless.
    note(UndoStep::Default { namespace: namespace.name.clone(), control: control.to_owned(), before })?;
    namespace.set_default(control).map_err(failed)
}

/// The timeout of unloading.
const UNLOAD_TIMEOUT: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Unloads PERT.
///
/// # Errors
/// If there is none of this name, or it is the default of a namespace.
pub fn unload(name: &str) -> Result<Value> {
    let Some(loaded_one) = status::registered(name) else {
        let loaded: Vec<_> = status::all().into_iter().filter(Loaded::is_registered).map(|one| one.name).collect();
        let loaded = if loaded.is_empty() { "nothing".into() } else { loaded.join(", ") };
        return Err(Error::new(format!("--name: no PERT is loaded as `{name}`; loaded: {loaded}.")));
    };
    refuse_users(&loaded_one)?;
    if let Some(path) = loaded_one.pin() {
        fs::remove_file(&path)
            .map_err(|error| Error::context(&format!("{} cannot be removed", path.display()), error))?;
    } else if let Some(process) = loaded_one.holder.and_then(|holder| Pid::from_raw(holder.cast_signed())) {
        kill_process(process, Signal::TERM).map_err(|error| Error::context("its holder cannot be ended", error))?;
    }
    let started = now();
    // The kernel frees the registration asynchronously.
    while requirements::is_registered(name) || loaded_one.holder.is_some_and(|process| request_of(process).is_some()) {
        if started.elapsed() > UNLOAD_TIMEOUT {
            return Err(Error::new(format!(
                "`{name}` is still there: who holds it? `earlybird kernel status` may say."
            )));
        }
        thread::sleep(POLL_INTERVAL);
    }
    Ok(json!({ "name": name }))
}

#[allow(clippy::disallowed_methods, reason = "how long to wait for a process is asked of the machine's clock")]
fn now() -> Instant {
    Instant::now()
}

/// Refuses to unload the default of a namespace or route, which would keep creating connections with it.
fn refuse_users(loaded_one: &Loaded) -> Result {
    let own =
        loaded_one.holder.and_then(request_of).and_then(|request| serde_json::from_value(request["hold"].clone()).ok());
    let own: Load = own.unwrap_or_default();
    for namespace in namespaces::with_default(&loaded_one.name) {
        if !own.routes.is_empty() || !is_among(&namespace, &own.namespaces) {
            let (space, name, command) = (&namespace.name, &loaded_one.name, namespace.reset_command());
            return Err(Error::new(format!(
                "the namespace `{space}` has `{name}` as its default. Reset it: `{command}`."
            )));
        }
    }
    Ok(())
}

fn is_among(namespace: &Namespace, names: &[String]) -> bool {
    names.iter().any(|name| Namespace::open(name).is_ok_and(|other| other.is(namespace)))
}
