//! A way from the far side to the Internet for who may not change this machine's network: `slirp4netns`, which opens sockets of this
//! machine for the connections of a namespace.

use crate::namespace::Namespace;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

pub(super) const PROGRAM: &str = "slirp4netns";
/// Its device in the namespace.
const DEVICE: &str = "internet";

/// Returns the command, and what is read when the way is open.
pub(super) fn command(side: &Namespace) -> io::Result<(Command, PipeReader)> {
    let path = |file: &OwnedFd| format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    let (network, user) = side.files();
    let (ready, tell) = io::pipe()?;
    let mut command = Command::new(PROGRAM);
    // The standard input is the only file that a program finds under a number known beforehand and has no other use for.
    command.args(["--configure", "--ready-fd=0", "--netns-type=path"]).stdin(tell);
    command.args(user.map(|file| format!("--userns-path={}", path(file))));
    command.args([&path(network), DEVICE]).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    Ok((command, ready))
}

/// Waits until the way is open.
pub(super) fn wait(mut ready: PipeReader) -> io::Result<()> {
    // Without a word at its end it has failed.
    let failed = |_| io::Error::other(format!("`{PROGRAM}` found no way to the Internet"));
    ready.read_exact(&mut [0]).map_err(failed)
}
