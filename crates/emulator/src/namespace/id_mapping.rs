//! The identity mapping of users and groups in a user namespace.

use rustix::fs::{Mode, OFlags};
use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;

/// The contents of the mapping files of a new user namespace (`user_namespaces(7)`): user and group keep their numbers. Created
/// before the fork, since a forked process must not allocate.
pub(super) struct IdMapping {
    user: String,
    group: String,
    ping_groups: String,
}

impl IdMapping {
    pub(super) fn of_this_process() -> Self {
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Self {
            user: format!("{user} {user} 1"),
            group: format!("{group} {group} 1"),
            ping_groups: format!("{group} {group}"),
        }
    }

    /// Writes the mapping of the user namespace of the calling process.
    pub(super) fn write(&self) -> io::Result<()> {
        // Without privileges outside, the kernel accepts a group mapping only after setgroups is denied.
        write(c"/proc/self/setgroups", "deny")?;
        write(c"/proc/self/uid_map", &self.user)?;
        write(c"/proc/self/gid_map", &self.group)?;
        Ok(())
    }

    /// Allows this group to send pings in the current network namespace; a new one allows nobody.
    pub(super) fn allow_ping(&self) {
        // Old kernels and those without IPv4 do not have this setting.
        let _ = write(c"/proc/sys/net/ipv4/ping_group_range", &self.ping_groups);
    }
}

/// Opens a file for reading.
pub(super) fn open(path: &CStr) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Writes to a file and returns it.
pub(super) fn write(path: &CStr, text: &str) -> io::Result<OwnedFd> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text.as_bytes())?;
    Ok(file)
}
