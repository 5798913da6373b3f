//! `earlybird-kernel REQUEST`: handles one JSON request and prints a JSON reply. Errors are one line, with exit code 2.

use earlybird_kernel::cleanup;
use earlybird_kernel::decisions::{self, Watch};
use earlybird_kernel::error::{Error, Result};
use earlybird_kernel::namespaces::{self, Namespace};
use earlybird_kernel::pin::{self, Load};
use earlybird_kernel::requirements;
use earlybird_kernel::routes;
use earlybird_kernel::run::{self, Enter, Run};
use earlybird_kernel::status;
use serde::Deserialize;
use serde_json::{Value, json};
use std::env::args;
use std::io::Write;
use std::process::ExitCode;

/// The exit code of errors that the user can fix.
const FAILED: u8 = 2;

/// A request.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Request {
    /// Check the requirements.
    Check(String),
    /// Load PERT until it is unloaded.
    Load(Load),
    /// List what is loaded.
    Status,
    /// Unload PERT.
    Unload(String),
    /// Run a command with PERT.
    Run(Run),
    /// Print its decisions.
    Watch(Watch),
    /// Internal: the process that holds the registration.
    Hold(Load),
    /// Internal: the process that cleans up.
    Cleanup,
    /// Internal: the process that enters a cgroup and executes a command.
    Enter(Enter),
}

fn main() -> ExitCode {
    match handle() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "earlybird: {error}");
            ExitCode::from(FAILED)
        }
    }
}

fn handle() -> Result<u8> {
    match request()? {
        Request::Check(name) => print(&json!({ "conditions": requirements::all(&name) })),
        Request::Load(request) => print(&pin::load(&request)?),
        Request::Status => print(&status()),
        Request::Unload(name) => print(&pin::unload(&name)?),
        // Ok( => The exit code of the command is that of this program.
        Request::Run(request) => Ok(u8::try_from(run::run(&request)?).unwrap_or(FAILED)),
        Request::Watch(request) => decisions::watch(&request).map(|()| 0),
        Request::Hold(request) => pin::hold(&request).map(|()| 0),
        Request::Cleanup => cleanup::serve().map(|()| 0),
        Request::Enter(request) => run::enter(&request).map(|()| 0),
    }
}

fn request() -> Result<Request> {
    let text = args().nth(1).ok_or_else(|| Error::new("call `earlybird kernel` in place of this program."))?;
    serde_json::from_str(&text).map_err(|error| Error::context("the request is not understood", error))
}

fn print(answer: &Value) -> Result<u8> {
    writeln!(std::io::stdout(), "{answer}").map_err(|error| Error::context("the output cannot be written", error))?;
    Ok(0)
}

fn status() -> Value {
    let described = status::all().into_iter().map(|loaded_one| {
        let mut description = loaded_one.described();
        description["namespaces"] = namespaces::with_default(&loaded_one.name).iter().map(reset).collect();
        description["routes"] =
            namespaces::all().iter().flat_map(|space| controlled(space, &loaded_one.name)).collect();
        description
    });
    json!({ "registered": requirements::registered(), "loaded": described.collect::<Value>() })
}

fn reset(namespace: &Namespace) -> Value {
    json!({ "name": namespace.name, "reset": namespace.reset_command() })
}

fn controlled(namespace: &Namespace, control: &str) -> Vec<Value> {
    let routes = routes::with_control(namespace, control).into_iter();
    routes.map(|route| json!({ "namespace": namespace.name, "route": route })).collect()
}
