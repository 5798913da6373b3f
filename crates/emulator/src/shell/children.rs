//! The programs that run on both sides.

use super::{gateway, names};
use crate::namespace::Namespace;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It did not: it was stopped.
    Stopped,
}

/// Everything that was started. What still runs ends with it.
#[derive(Debug, Default)]
pub(super) struct Children {
    peers: Vec<Child>,
    command: Option<Child>,
}

/// How long servers may take until they listen, and programs until they end.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time between two looks.
const NAP: Duration = Duration::from_millis(20);

impl Children {
    /// Starts a server, in a process group of its own. What it says goes to the standard error, as the standard output is the
    /// command's.
    pub(super) fn start_peer(&mut self, side: &Namespace, program: &[String]) -> io::Result<()> {
        let mut command = command(side, program)?;
        command.stdin(Stdio::null()).stdout(io::stderr()).process_group(0);
        self.peers.push(spawn(command, program)?);
        Ok(())
    }

    /// Waits until each server has a socket, but not for ever: not all servers need one.
    pub(super) fn await_peers(&mut self) {
        for _ in 0..PATIENCE.as_millis() / NAP.as_millis() {
            let running: Vec<&mut Child> =
                self.peers.iter_mut().filter_map(|peer| (!has_ended(peer)).then_some(peer)).collect();
            if running.first().is_none_or(|peer| sockets_beside(peer) >= running.len()) {
                return;
            }
            sleep(NAP);
        }
    }

    /// Starts what leads from a network to the Internet, and waits until it does.
    pub(super) fn start_gateway(&mut self, side: &Namespace) -> io::Result<()> {
        let (mut command, ready) = gateway::command(side)?;
        end_with_this(&mut command);
        self.peers.push(spawn(command, &[gateway::PROGRAM.to_owned()])?);
        gateway::wait(ready)
    }

    pub(super) fn start_command(
        &mut self,
        side: &Namespace,
        program: &[String],
        resolver: Option<&Path>,
    ) -> io::Result<()> {
        let mut command = command(side, program)?;
        if let Some(file) = resolver {
            names::resolve_by(&mut command, file)?;
        }
        self.command = Some(spawn(command, program)?);
        Ok(())
    }

    /// Waits until the command ends or `goes_on` says no.
    pub(super) fn wait(&mut self, mut goes_on: impl FnMut() -> bool) -> io::Result<Ended> {
        let Some(child) = &mut self.command else { return Ok(Ended::Exited(0)) };
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(ended(status));
            }
            if !goes_on() {
                return Ok(Ended::Stopped);
            }
            sleep(NAP);
        }
    }

    /// Stops what still runs: first it is asked to, then it is made to.
    pub(super) fn stop(&mut self) {
        let mut running = self.running();
        for number in [libc::SIGTERM, libc::SIGKILL] {
            for target in &running {
                signal(*target, number);
            }
            for _ in 0..PATIENCE.as_millis() / NAP.as_millis() {
                self.command.iter_mut().chain(&mut self.peers).for_each(|child| _ = has_ended(child));
                running.retain(|target| signal(*target, 0));
                if running.is_empty() {
                    return;
                }
                sleep(NAP);
            }
        }
    }

    /// Returns the command and the groups of the servers, in which what a server started may run longer than itself.
    fn running(&mut self) -> Vec<i32> {
        let command = self.command.iter_mut().filter_map(|child| (!has_ended(child)).then(|| child.id().cast_signed()));
        let groups = self.peers.iter().map(|child| -child.id().cast_signed());
        command.chain(groups).filter(|target| signal(*target, 0)).collect()
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.stop();
    }
}

fn command(side: &Namespace, program: &[String]) -> io::Result<Command> {
    let (name, arguments) = program.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = side.command(name)?;
    command.args(arguments);
    end_with_this(&mut command);
    Ok(command)
}

/// Whatever becomes of this process, nothing that it started stays behind.
fn end_with_this(command: &mut Command) {
    // SAFETY: one system call.
    unsafe {
        command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        });
    }
}

fn spawn(mut command: Command, program: &[String]) -> io::Result<Child> {
    let name = program.first().map_or("", String::as_str);
    command.spawn().map_err(|error| io::Error::new(error.kind(), format!("cannot run `{name}`: {error}")))
}

fn ended(status: ExitStatus) -> Ended {
    status.code().map_or_else(|| Ended::Signalled(status.signal().unwrap_or(0)), Ended::Exited)
}

fn has_ended(child: &mut Child) -> bool {
    // Whoever cannot be asked is not there.
    !matches!(child.try_wait(), Ok(None))
}

/// Sends a signal to a process, or to a group by its number below zero; 0 only asks. Says whether it is there.
fn signal(target: i32, number: i32) -> bool {
    // SAFETY: two numbers are given, of a child or of a group that began with one.
    unsafe { libc::kill(target, number) == 0 }
}

/// Returns how many sockets there are in the network of a process.
fn sockets_beside(child: &Child) -> usize {
    let tables = ["tcp", "tcp6", "udp", "udp6"].map(|protocol| format!("/proc/{}/net/{protocol}", child.id()));
    let lines = tables.iter().filter_map(|table| Some(std::fs::read_to_string(table).ok()?.lines().count()));
    // Each begins with the names of its columns.
    lines.map(|lines| lines.saturating_sub(1)).sum()
}
