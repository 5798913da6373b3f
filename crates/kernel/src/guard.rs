//! A second process that puts everything back when the first one ends, however it ends.
//!
//! The kernel takes the registration of a process that is killed; defaults, routes and control groups it leaves. The guard
//! reads from a pipe what to put back, and does so when the pipe ends.

use crate::failure::{Failure, Outcome};
use crate::undo::{Held, Step};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::env;
use std::io::{BufRead, Write, stdin};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What is to be put back, and who does it.
#[derive(Debug)]
pub struct Guard {
    child: Child,
    pipe: Option<ChildStdin>,
    held: Vec<Held>,
}

impl Guard {
    /// Starts one.
    ///
    /// # Errors
    /// If there is no room for another process.
    pub fn start() -> Outcome<Self> {
        let mut child = own_program(&json!("guard"))?
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| Failure::of("the process that cleans up cannot be started", error))?;
        let pipe = child.stdin.take();
        Ok(Self { child, pipe, held: Vec::new() })
    }

    /// Notes a step that is about to be taken.
    ///
    /// # Errors
    /// If the guard is not there any more.
    pub fn note(&mut self, step: Step) -> Outcome {
        let line = serde_json::to_string(&step).map_err(|error| Failure::of("a step cannot be noted", error))?;
        let pipe = self.pipe.as_mut().ok_or_else(|| Failure::new("the process that cleans up has ended."))?;
        writeln!(pipe, "{line}").map_err(|error| Failure::of("the process that cleans up has ended", error))?;
        self.held.extend(step.hold());
        Ok(())
    }

    /// Returns whether the guard has ended, which it should not.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Has everything put back, by the guard or, where that was killed, here.
    pub fn finish(mut self) {
        self.pipe = None;
        let is_done = self.child.wait().is_ok_and(|status| status.success());
        if !is_done {
            put_back(&self.held);
        }
    }
}

fn put_back(held: &[Held]) {
    held.iter().rev().for_each(Held::undo);
}

/// Is the guard: reads until the other process ends, then puts everything back.
///
/// # Errors
/// If signals cannot be set aside.
pub fn serve() -> Outcome {
    let _ = rustix::process::setsid();
    set_aside(&[SIGTERM, SIGINT, SIGHUP])?;
    let lines = stdin().lock().lines().map_while(Result::ok);
    let held: Vec<_> = lines.filter_map(|line| serde_json::from_str::<Step>(&line).ok()?.hold()).collect();
    put_back(&held);
    Ok(())
}

/// Makes signals that would end this process do nothing.
fn set_aside(signals: &[i32]) -> Outcome {
    let ignored = Arc::new(AtomicBool::new(false));
    for &signal in signals {
        signal_hook::flag::register(signal, Arc::clone(&ignored))
            .map_err(|error| Failure::of("a signal cannot be set aside", error))?;
    }
    Ok(())
}

/// Returns a command that runs this program with another request.
///
/// # Errors
/// If the program's file is unknown.
pub fn own_program(request: &serde_json::Value) -> Outcome<Command> {
    let program = env::current_exe().map_err(|error| Failure::of("this program's file is unknown", error))?;
    let mut command = Command::new(program);
    command.arg(request.to_string());
    Ok(command)
}
