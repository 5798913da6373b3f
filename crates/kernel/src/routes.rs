//! Routes with a congestion control of their own (`ip route … congctl NAME`).

use crate::failure::{Failure, Outcome};
use crate::namespaces::Namespace;
use std::process::Command;

/// Returns the routes to a destination as `ip route` writes them.
///
/// # Errors
/// If there is none, or more than one, or no `ip`.
pub fn find(namespace: &Namespace, destination: &str) -> Outcome<String> {
    let shown = ip(namespace, &["route", "show", "exact", destination])?;
    match shown.lines().map(str::trim).collect::<Vec<_>>()[..] {
        [route] => Ok(route.to_owned()),
        [] => Err(Failure::new(format!(
            "--route: `{destination}` is no route of the namespace `{}`; `ip route` shows them.",
            namespace.name
        ))),
        _ => Err(Failure::new(format!(
            "--route: there are several routes to `{destination}`; change one with `ip route`."
        ))),
    }
}

/// Returns a route this congestion control.
///
/// # Errors
/// If the kernel refuses.
pub fn set(namespace: &Namespace, route: &str, control: &str) -> Outcome {
    change(namespace, &without_control(route), &["congctl", control])
}

/// Returns a route back what it had.
///
/// # Errors
/// If the kernel refuses.
pub fn reset(namespace: &Namespace, route: &str) -> Outcome {
    change(namespace, &words(route), &[])
}

/// Returns the routes of a namespace with this congestion control.
pub fn with_control(namespace: &Namespace, control: &str) -> Vec<String> {
    let all = ip(namespace, &["route", "show", "table", "all"]).unwrap_or_default();
    all.lines().filter(|line| controlled_by(line, control)).map(|line| line.trim().to_owned()).collect()
}

fn controlled_by(route: &str, control: &str) -> bool {
    words(route).windows(2).any(|pair| pair == ["congctl", control])
}

/// Drops what is said of the state of a route, which cannot be set.
fn words(route: &str) -> Vec<&str> {
    route.split_whitespace().filter(|word| !["linkdown", "dead", "offload"].contains(word)).collect()
}

fn without_control(route: &str) -> Vec<&str> {
    let mut words = words(route);
    if let Some(place) = words.iter().position(|&word| word == "congctl") {
        words.drain(place..(place + 2).min(words.len()));
    }
    words
}

fn change(namespace: &Namespace, route: &[&str], more: &[&str]) -> Outcome {
    ip(namespace, &[&["route", "change"], route, more].concat()).map(|_| ())
}

fn ip(namespace: &Namespace, arguments: &[&str]) -> Outcome<String> {
    let run = || Command::new("ip").args(arguments).output();
    let output = namespace.inside(run).and_then(|output| output);
    let output = output.map_err(|error| Failure::of("`ip` cannot be run (`apt-get install iproute2`)", error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::of(&format!("`ip {}`", arguments.join(" ")), said.trim().trim_end_matches('.').replace('\n', "; ")))
}
