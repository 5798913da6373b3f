//! The processes on both sides.

use super::guard::Guard;
use super::{dns, gateway};
use crate::namespace::Namespace;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// The end of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandExit {
    /// It exited with this code.
    Exited(i32),
    /// It was terminated by this signal.
    Signalled(i32),
    /// It was stopped with the emulator.
    Stopped,
}

/// All processes that were started. They are stopped on drop.
#[derive(Debug, Default)]
pub(super) struct Processes {
    servers: Vec<Child>,
    command: Option<Child>,
    guards: Vec<Guard>,
}

/// The timeout of servers to listen, and of processes to terminate when the emulator is interrupted or fails.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The time that servers get to finish after SIGTERM when the command has ended: a relay plays out its buffer and writes its files.
const FINISH_TIMEOUT: Duration = Duration::from_secs(10);
/// The interval at which processes are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

impl Processes {
    /// Lets the processes of a namespace end even if this one is killed.
    pub(super) fn guard(&mut self, side: &Namespace) -> io::Result<()> {
        self.guards.push(Guard::start(side)?);
        Ok(())
    }

    /// Starts a server in its own process group. Its output goes to the standard error; the standard output belongs to the
    /// command.
    pub(super) fn start_server(&mut self, side: &Namespace, program: &[String]) -> io::Result<()> {
        let mut command = command(side, program)?;
        // A process group, so that children of the server can be stopped, too.
        command.stdin(Stdio::null()).stdout(io::stderr()).process_group(0);
        self.servers.push(spawn(command, program)?);
        Ok(())
    }

    /// Waits until each server has a socket, up to a timeout: some servers need none.
    pub(super) fn await_servers(&mut self) {
        for _ in 0..TIMEOUT.as_millis() / POLL_INTERVAL.as_millis() {
            let running: Vec<&mut Child> =
                self.servers.iter_mut().filter_map(|server| (!has_ended(server)).then_some(server)).collect();
            if running.first().is_none_or(|server| count_sockets(server) >= running.len()) {
                return;
            }
            sleep(POLL_INTERVAL);
        }
    }

    /// Starts the gateway of a namespace, and waits until it is ready.
    pub(super) fn start_gateway(&mut self, side: &Namespace) -> io::Result<()> {
        let (mut command, ready) = gateway::command(side)?;
        terminate_with_parent(&mut command);
        self.servers.push(spawn(command, &[gateway::PROGRAM.to_owned()])?);
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
            dns::use_resolver(&mut command, file)?;
        }
        self.command = Some(spawn(command, program)?);
        Ok(())
    }

    /// Waits until the command ends or `goes_on` returns false.
    pub(super) fn wait(&mut self, mut goes_on: impl FnMut() -> bool) -> io::Result<CommandExit> {
        let Some(child) = &mut self.command else { return Ok(CommandExit::Exited(0)) };
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(ended(status));
            }
            if !goes_on() {
                return Ok(CommandExit::Stopped);
            }
            sleep(POLL_INTERVAL);
        }
    }

    /// Lets the servers finish after the command has ended: SIGTERM first, SIGKILL after ten seconds, or as soon as `goes_on` returns
    /// false.
    pub(super) fn finish(&mut self, goes_on: impl FnMut() -> bool) {
        self.signal_and_wait(libc::SIGTERM, FINISH_TIMEOUT, goes_on);
        self.signal_and_wait(libc::SIGKILL, TIMEOUT, || true);
    }

    /// Stops all processes: SIGTERM first, SIGKILL after the timeout.
    pub(super) fn stop(&mut self) {
        for number in [libc::SIGTERM, libc::SIGKILL] {
            self.signal_and_wait(number, TIMEOUT, || true);
        }
    }

    /// Sends a signal to all processes, and waits until they have ended, the timeout expires or `goes_on` returns false.
    fn signal_and_wait(&mut self, number: i32, timeout: Duration, mut goes_on: impl FnMut() -> bool) {
        let mut running = self.running();
        for target in &running {
            signal(*target, number);
        }
        for _ in 0..timeout.as_millis() / POLL_INTERVAL.as_millis() {
            self.command.iter_mut().chain(&mut self.servers).for_each(|child| _ = has_ended(child));
            running.retain(|target| signal(*target, 0));
            if running.is_empty() || !goes_on() {
                return;
            }
            sleep(POLL_INTERVAL);
        }
    }

    /// Returns the process of the command, and the process groups of servers: children of a server may outlive it.
    fn running(&mut self) -> Vec<i32> {
        let command = self.command.iter_mut().filter_map(|child| (!has_ended(child)).then(|| child.id().cast_signed()));
        let groups = self.servers.iter().map(|child| -child.id().cast_signed());
        command.chain(groups).filter(|target| signal(*target, 0)).collect()
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.stop();
    }
}

fn command(side: &Namespace, program: &[String]) -> io::Result<Command> {
    let (name, arguments) = program.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = side.command(name)?;
    command.args(arguments);
    terminate_with_parent(&mut command);
    Ok(command)
}

/// Makes the process end with this one, even if this one is killed.
fn terminate_with_parent(command: &mut Command) {
    let parent = std::process::id().cast_signed();
    // SAFETY: two system calls.
    unsafe {
        command.pre_exec(move || match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) {
            // If the parent ended before the call, there is no signal (`PR_SET_PDEATHSIG(2const)`).
            0 if libc::getppid() != parent => Err(io::ErrorKind::BrokenPipe.into()),
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        });
    }
}

fn spawn(mut command: Command, program: &[String]) -> io::Result<Child> {
    let name = program.first().map_or("", String::as_str);
    command.spawn().map_err(|error| io::Error::new(error.kind(), format!("cannot run `{name}`: {error}")))
}

fn ended(status: ExitStatus) -> CommandExit {
    status.code().map_or_else(|| CommandExit::Signalled(status.signal().unwrap_or(0)), CommandExit::Exited)
}

fn has_ended(child: &mut Child) -> bool {
    // An error means that the process does not exist.
    !matches!(child.try_wait(), Ok(None))
}

/// Sends a signal to a process, or to a group by its negated number; signal 0 only checks. Returns whether the target exists.
fn signal(target: i32, number: i32) -> bool {
    // SAFETY: passes two numbers, of a child or of a group that it leads.
    unsafe { libc::kill(target, number) == 0 }
}

/// Returns the number of sockets in the network namespace of a process.
fn count_sockets(child: &Child) -> usize {
    let tables = ["tcp", "tcp6", "udp", "udp6"].map(|protocol| format!("/proc/{}/net/{protocol}", child.id()));
    let lines = tables.iter().filter_map(|table| Some(std::fs::read_to_string(table).ok()?.lines().count()));
    // The first line of each table is a header.
    lines.map(|lines| lines.saturating_sub(1)).sum()
}
