//! Internet access of the far side without privileges: `slirp4netns`, which opens a socket of this machine for each connection of
//! the namespace.

use crate::namespace::Namespace;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

pub(super) const PROGRAM: &str = "slirp4netns";
/// The name of its device in the namespace.
const DEVICE: &str = "internet";

/// Returns the command, and a pipe that signals readiness.
pub(super) fn command(side: &Namespace) -> io::Result<(Command, PipeReader)> {
    let path = |file: &OwnedFd| format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    let (network, user) = side.files();
    let (ready, signal) = io::pipe()?;
    let mut command = Command::new(PROGRAM);
    // `--ready-fd` needs a known descriptor: the standard input is always 0 and otherwise unused.
    command.args(["--configure", "--ready-fd=0", "--netns-type=path"]).stdin(signal);
    command.args(user.map(|file| format!("--userns-path={}", path(file))));
    command.args([&path(network), DEVICE]).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    Ok((command, ready))
}

/// Waits until the gateway is ready.
pub(super) fn wait(mut ready: PipeReader) -> io::Result<()> {
    // The pipe closes without a byte if the program failed.
    let failed = |_| io::Error::other(format!("`{PROGRAM}` could not connect to the Internet"));
    ready.read_exact(&mut [0]).map_err(failed)
}
