//! Routes with a congestion control of their own (`ip route … congctl NAME`).

use crate::error::{Error, Result};
use crate::namespaces::Namespace;
use std::process::Command;

/// Returns the route to a destination in the format of `ip route`.
///
/// # Errors
/// If there is no route or several, or `ip` is missing.
pub fn find(namespace: &Namespace, destination: &str) -> Result<String> {
    let shown = ip(namespace, &["route", "show", "exact", destination])?;
    match shown.lines().map(str::trim).collect::<Vec<_>>()[..] {
        [route] => Ok(route.to_owned()),
        [] => Err(Error::new(format!(
            "--route: `{destination}` is no route of the namespace `{}`; `ip route` shows them.",
            namespace.name
        ))),
        _ => Err(Error::new(format!(
            "--route: there are several routes to `{destination}`; change one with `ip route`."
        ))),
    }
}

/// Sets the congestion control of a route.
///
/// # Errors
/// If the kernel refuses.
pub fn set(namespace: &Namespace, route: &str, control: &str) -> Result {
    change(namespace, &without_control(route), &["congctl", control])
}

/// Restores a route.
///
/// # Errors
/// If the kernel refuses.
pub fn reset(namespace: &Namespace, route: &str) -> Result {
    change(namespace, &words(route), &[])
}

/// Returns the routes of a namespace with this congestion control.
pub fn with_control(namespace: &Namespace, control: &str) -> Vec<String> {
    let all = ip(namespace, &["route", "show", "table", "all"]).unwrap_or_default();
    all.lines().filter(|line| controlled_by(line, control)).map(|line| line.trim().to_owned()).collect()
}

fn controlled_by(route: &str, control: &str) -> bool {
    // Exact words: a substring could match another control's name.
    words(route).windows(2).any(|pair| pair == ["congctl", control])
}

/// Removes the state flags of a route, which cannot be set.
fn words(route: &str) -> Vec<&str> {
    route.split_whitespace().filter(|word| !["linkdown", "dead", "offload"].contains(word)).collect()
}

fn without_control(route: &str) -> Vec<&str> {
    let mut words = words(route);
    if let Some(place) = words.iter().position(|&word| word == "congctl") {
        // The value belongs to the key.
        words.drain(place..(place + 2).min(words.len()));
    }
    words
}

fn change(namespace: &Namespace, route: &[&str], more: &[&str]) -> Result {
    ip(namespace, &[&["route", "change"], route, more].concat()).map(|_| ())
}

fn ip(namespace: &Namespace, arguments: &[&str]) -> Result<String> {
    let run = || Command::new("ip").args(arguments).output();
    let output = namespace.inside(run).and_then(|output| output);
    let output = output.map_err(|error| Error::context("`ip` cannot be run (`apt-get install iproute2`)", error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(Error::context(
        &format!("`ip {}`", arguments.join(" ")),
        message.trim().trim_end_matches('.').replace('\n', "; "),
    ))
}
