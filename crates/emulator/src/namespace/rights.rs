//! Who a process is in a user namespace: the same as outside.

use rustix::fs::{Mode, OFlags};
use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;

/// What is written to `/proc/self` in a new user namespace (`user_namespaces(7)`): user and group keep their numbers. Made
/// beforehand, since a process that was just forked must not allocate.
pub(super) struct Maps {
    user: String,
    group: String,
    pingers: String,
}

impl Maps {
    pub(super) fn of_this_process() -> Self {
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Self {
            user: format!("{user} {user} 1"),
            group: format!("{group} {group} 1"),
            pingers: format!("{group} {group}"),
        }
    }

    /// Writes them in the namespace that the process is in.
    pub(super) fn write(&self) -> io::Result<()> {
        // Without rights outside, groups can only be mapped when they can no longer be dropped.
        write(c"/proc/self/setgroups", "deny")?;
        write(c"/proc/self/uid_map", &self.user)?;
        write(c"/proc/self/gid_map", &self.group)?;
        Ok(())
    }

    /// Lets this group send pings in the network namespace that the process is in; new ones let nobody.
    pub(super) fn allow_pings(&self) {
        // An old kernel, or one without IPv4, has no such switch: then nobody misses it.
        let _ = write(c"/proc/sys/net/ipv4/ping_group_range", &self.pingers);
    }
}

/// Opens a file to read it.
pub(super) fn open(path: &CStr) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Writes a file, and gives it.
pub(super) fn write(path: &CStr, text: &str) -> io::Result<OwnedFd> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text.as_bytes())?;
    Ok(file)
}
