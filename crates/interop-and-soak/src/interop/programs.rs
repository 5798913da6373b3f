//! The processes of a transfer.

use super::{Trial, Way};
use crate::interop::ours::PORT;
use earlybird_emulator::Namespace;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

/// A process that says when it is ready, if it waits for somebody, and in the end what it saw.
#[derive(Debug)]
pub(super) struct Program {
    child: Child,
    said: BufReader<ChildStdout>,
    pub(super) started: Instant,
}

/// What a side saw.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) sha256: String,
    pub(super) repeated: u64,
    pub(super) at: Instant,
}

const SCRIPT: &str = include_str!("kernel.py");

#[expect(clippy::disallowed_methods, reason = "programs run in real time")]
fn now() -> Instant {
    Instant::now()
}

impl Program {
    /// Starts our side in a namespace.
    pub(super) fn ours(side: &Namespace, program: &Path, trial: &Trial) -> io::Result<Self> {
        let name = program.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
        let mut command = side.command(name)?;
        let role = match trial.way {
            Way::ToPython => "send",
            Way::FromPython => "read",
            Way::ToCurl => "page",
        };
        let peer = trial.family.kernel().to_string();
        command.args(["ours", role, &peer, &trial.megabytes.to_string(), &trial.ours]);
        Self::start(command)
    }

    /// Starts Python's side in a namespace.
    pub(super) fn python(side: &Namespace, trial: &Trial) -> io::Result<Self> {
        let mut command = side.command("python3")?;
        let (role, host) = match trial.way {
            Way::ToPython => ("read", trial.family.kernel()),
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
        let fetch = format!("curl --silent --globoff --noproxy '*' 'http://{host}:{PORT}/' | sha256sum");
        command.args(["-c", &fetch]);
        Self::start(command)
    }

    fn start(mut command: Command) -> io::Result<Self> {
        let started = now();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let said = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, said: BufReader::new(said), started })
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.said.read_line(&mut line)?;
        Ok(line)
    }

    /// Waits until it listens.
    pub(super) fn until_ready(mut self) -> io::Result<Self> {
        match self.line()?.trim() {
            "ready" => Ok(self),
            _ => Err(self.failure()),
        }
    }

    fn failure(&mut self) -> io::Error {
        let ended = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        io::Error::other(format!("a side of the transfer failed: {ended}"))
    }

    /// Waits for its end, and what it says there.
    pub(super) fn report(mut self) -> io::Result<Report> {
        let line = self.line()?;
        let at = now();
        let mut words = line.split_whitespace();
        let Some(sha256) = words.next().filter(|word| word.len() == 64) else { return Err(self.failure()) };
        let repeated = words.next().and_then(|word| word.parse().ok()).unwrap_or_default();
        let report = Report { sha256: sha256.to_owned(), repeated, at };
        if self.child.wait()?.success() { Ok(report) } else { Err(self.failure()) }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It has ended, or something failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
