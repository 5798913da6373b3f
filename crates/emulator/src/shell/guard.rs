//! Ends the processes of a namespace when this process has ended without doing so, as by SIGKILL.

use crate::namespace::Namespace;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

/// A process in the namespace that waits for the end of this one: its standard input is then closed.
#[derive(Debug)]
pub(super) struct Guard(Child);

/// Signals that end all else that a terminal or a service manager started are ignored. The processes get half a second to end by
/// themselves: those that were started directly have got SIGTERM (`PR_SET_PDEATHSIG`), their children and those that ignore it are
/// killed, repeatedly, as they may be starting others. A namespace is equal to that of the parent only if it is not a new one.
const SCRIPT: &str = "trap '' INT QUIT TERM HUP
[ /proc/self/ns/net -ef /proc/$PPID/ns/net ] && exit 1
read -r _
sleep 0.5
for round in 1 2 3 4 5 6 7 8 9 10; do
    for place in /proc/[0-9]*; do
        [ $place = /proc/$$ ] || ! [ $place/ns/net -ef /proc/self/ns/net ] || kill -9 ${place#/proc/}
    done
done";

impl Guard {
    /// Starts the guard of a namespace, before anything else runs in it.
    pub(super) fn start(side: &Namespace) -> io::Result<Self> {
        let mut command = side.command("/bin/sh")?;
        command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.process_group(0).spawn().map(Self)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Everything has been stopped already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
