//! A second process, which undoes all changes when the first one ends in any way.
//!
//! The kernel removes the registration of a process that ends, but not defaults, routes and cgroups. The cleanup process reads
//! undo steps from a pipe and executes them at its end.

use crate::error::{Error, Result};
use crate::undo::{OpenUndo, UndoStep};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::env;
use std::io::{BufRead, Write, stdin};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The undo steps and the process that executes them.
#[derive(Debug)]
pub struct Cleanup {
    child: Child,
    pipe: Option<ChildStdin>,
    undos: Vec<OpenUndo>,
}

impl Cleanup {
    /// Starts the process.
    ///
    /// # Errors
    /// If the process cannot be started.
    pub fn start() -> Result<Self> {
        let mut child = this_program(&json!("cleanup"))?
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| Error::context("the process that cleans up cannot be started", error))?;
        let pipe = child.stdin.take();
        Ok(Self { child, pipe, undos: Vec::new() })
    }

    /// Records the undo step of a change that follows.
    ///
    /// # Errors
    /// If the process has ended.
    pub fn note(&mut self, step: UndoStep) -> Result {
        let line = serde_json::to_string(&step).map_err(|error| Error::context("a step cannot be noted", error))?;
        let pipe = self.pipe.as_mut().ok_or_else(|| Error::new("the process that cleans up has ended."))?;
        writeln!(pipe, "{line}").map_err(|error| Error::context("the process that cleans up has ended", error))?;
        self.undos.extend(step.open());
        Ok(())
    }

    /// Returns whether the process has ended unexpectedly.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Undoes everything, in the cleanup process or here if that was killed.
    pub fn finish(mut self) {
        self.pipe = None;
        let is_done = self.child.wait().is_ok_and(|status| status.success());
        if !is_done {
            undo_all(&self.undos);
        }
    }
}

fn undo_all(undos: &[OpenUndo]) {
    // In reverse order: a route is reset before the registration that it refers to ends.
    undos.iter().rev().for_each(OpenUndo::undo);
}

/// Runs the cleanup process: reads undo steps until the other process ends, then executes them.
///
/// # Errors
/// If signals cannot be ignored.
pub fn serve() -> Result {
    let _ = rustix::process::setsid();
    ignore(&[SIGTERM, SIGINT, SIGHUP])?;
    let lines = stdin().lock().lines().map_while(std::result::Result::ok);
    let undos: Vec<_> = lines.filter_map(|line| serde_json::from_str::<UndoStep>(&line).ok()?.open()).collect();
    undo_all(&undos);
    Ok(())
}

/// Ignores signals that would end this process.
fn ignore(signals: &[i32]) -> Result {
    let ignored = Arc::new(AtomicBool::new(false));
    for &signal in signals {
        signal_hook::flag::register(signal, Arc::clone(&ignored))
            .map_err(|error| Error::context("a signal cannot be set aside", error))?;
    }
    Ok(())
}

/// Returns a command that runs this program with another request.
///
/// # Errors
/// If the path of this program is unknown.
pub fn this_program(request: &serde_json::Value) -> Result<Command> {
    let program = env::current_exe().map_err(|error| Error::context("this program's file is unknown", error))?;
    let mut command = Command::new(program);
    command.arg(request.to_string());
    Ok(command)
}
