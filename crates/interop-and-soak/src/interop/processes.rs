//! The processes of a transfer.

use super::{Direction, Trial};
use crate::interop::stack_side::PORT;
use earlybird_emulator::Namespace;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

/// A process at one end of a transfer, which prints its result, and servers also when they are ready.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub(super) started: Instant,
}

/// The result of one end.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) sha256: String,
    pub(super) retransmissions: u64,
    pub(super) at: Instant,
}

const SCRIPT: &str = include_str!("kernel.py");

#[expect(clippy::disallowed_methods, reason = "programs run in real time")]
fn now() -> Instant {
    Instant::now()
}

impl Process {
    /// Starts our stack in a namespace.
    pub(super) fn ours(side: &Namespace, program: &Path, trial: &Trial) -> io::Result<Self> {
        let name = program.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
        let mut command = side.command(name)?;
        let role = match trial.direction {
            Direction::ToPython => "send",
            Direction::FromPython => "read",
            Direction::ToCurl => "page",
        };
        let peer = trial.family.kernel().to_string();
        command.args(["ours", role, &peer, &trial.megabytes.to_string(), &trial.ours]);
        Self::start(command)
    }

    /// Starts a Python program in a namespace.
    pub(super) fn python(side: &Namespace, trial: &Trial) -> io::Result<Self> {
        let mut command = side.command("python3")?;
        let (role, host) = match trial.direction {
            Direction::ToPython => ("read", trial.family.kernel()),
            _ => ("send", trial.family.ours()),
        };
        let numbers = [PORT.to_string(), trial.megabytes.to_string()];
        command.args(["-c", SCRIPT, role, &host.to_string(), &numbers[0], &numbers[1], &trial.kernel]);
        Self::start(command)
    }

    /// Starts curl in a namespace.
    pub(super) fn curl(side: &Namespace, trial: &Trial) -> io::Result<Self> {
        let host = trial.family.ours();
        let host = if host.is_ipv6() { format!("[{host}]") } else { host.to_string() };
        let mut command = side.command("sh")?;
        // Without a proxy, and with the brackets of IPv6 addresses taken literally.
        let fetch = format!("curl --silent --globoff --noproxy '*' 'http://{host}:{PORT}/' | sha256sum");
        command.args(["-c", &fetch]);
        Self::start(command)
    }

    fn start(mut command: Command) -> io::Result<Self> {
        let started = now();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, stdout: BufReader::new(stdout), started })
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        Ok(line)
    }

    /// Waits until the process listens.
    pub(super) fn wait_until_ready(mut self) -> io::Result<Self> {
        match self.line()?.trim() {
            "ready" => Ok(self),
            _ => Err(self.failure()),
        }
    }

    fn failure(&mut self) -> io::Error {
        let ended = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        io::Error::other(format!("a side of the transfer failed: {ended}"))
    }

    /// Waits for the end of the process and parses its result.
    pub(super) fn report(mut self) -> io::Result<Report> {
        let line = self.line()?;
        let at = now();
        let mut words = line.split_whitespace();
        // A digest has 64 hexadecimal digits; anything else is an error message.
        let Some(sha256) = words.next().filter(|word| word.len() == 64) else { return Err(self.failure()) };
        let retransmissions = words.next().and_then(|word| word.parse().ok()).unwrap_or_default();
        let report = Report { sha256: sha256.to_owned(), retransmissions, at };
        if self.child.wait()?.success() { Ok(report) } else { Err(self.failure()) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process has ended already unless something failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
