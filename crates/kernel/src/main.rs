//! `earlybird-kernel REQUEST`: one request as JSON, answered with JSON; what is wrong is one line, and exit code 2.

use earlybird_kernel::check;
use earlybird_kernel::command::{self, Enter, Run};
use earlybird_kernel::failure::{Failure, Outcome};
use earlybird_kernel::guard;
use earlybird_kernel::hold::{self, Load};
use earlybird_kernel::instances;
use earlybird_kernel::namespaces::{self, Namespace};
use earlybird_kernel::routes;
use earlybird_kernel::watch::{self, Watch};
use serde::Deserialize;
use serde_json::{Value, json};
use std::env::args;
use std::io::Write;
use std::process::ExitCode;

/// What a person can put right.
const FAILED: u8 = 2;

/// What can be asked.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Request {
    /// Can this machine?
    Check(String),
    /// Load it until it is unloaded.
    Load(Load),
    /// What is loaded?
    Status,
    /// Take it out.
    Unload(String),
    /// Run a command with it.
    Run(Run),
    /// Tell its decisions.
    Watch(Watch),
    /// Be the process that holds it …
    Hold(Load),
    /// … that cleans up after it …
    Guard,
    /// … or that becomes a command.
    Enter(Enter),
}

fn main() -> ExitCode {
    match answer() {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "earlybird: {failure}");
            ExitCode::from(FAILED)
        }
    }
}

fn answer() -> Outcome<u8> {
    match request()? {
        Request::Check(name) => say(&json!({ "conditions": check::conditions(&name) })),
        Request::Load(request) => say(&hold::load(&request)?),
        Request::Status => say(&status()),
        Request::Unload(name) => say(&hold::unload(&name)?),
        Request::Run(request) => Ok(u8::try_from(command::run(&request)?).unwrap_or(FAILED)),
        Request::Watch(request) => watch::watch(&request).map(|()| 0),
        Request::Hold(request) => hold::hold(&request).map(|()| 0),
        Request::Guard => guard::serve().map(|()| 0),
        Request::Enter(request) => command::enter(&request).map(|()| 0),
    }
}

fn request() -> Outcome<Request> {
    let text = args().nth(1).ok_or_else(|| Failure::new("call `earlybird kernel` in place of this program."))?;
    serde_json::from_str(&text).map_err(|error| Failure::of("the request is not understood", error))
}

fn say(answer: &Value) -> Outcome<u8> {
    writeln!(std::io::stdout(), "{answer}").map_err(|error| Failure::of("nobody listens", error))?;
    Ok(0)
}

fn status() -> Value {
    let described = instances::all().into_iter().map(|instance| {
        let mut description = instance.described();
        description["namespaces"] = namespaces::with_default(&instance.name).iter().map(reset).collect();
        description["routes"] = namespaces::all().iter().flat_map(|space| controlled(space, &instance.name)).collect();
        description
    });
    json!({ "registered": check::registered(), "loaded": described.collect::<Value>() })
}

fn reset(namespace: &Namespace) -> Value {
    json!({ "name": namespace.name, "reset": namespace.reset_command() })
}

fn controlled(namespace: &Namespace, control: &str) -> Vec<Value> {
    let routes = routes::with_control(namespace, control).into_iter();
    routes.map(|route| json!({ "namespace": namespace.name, "route": route })).collect()
}
