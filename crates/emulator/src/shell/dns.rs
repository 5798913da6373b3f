//! The DNS resolver of the command: a resolver at this machine's loopback address is not reachable from another network
//! namespace.

use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Mounts a file over `/etc/resolv.conf` in a mount namespace of the command.
pub(super) fn use_resolver(command: &mut Command, file: &Path) -> io::Result<()> {
    let file = CString::new(file.as_os_str().as_bytes())?;
    // SAFETY: three system calls in a forked process, without allocation.
    unsafe {
        command.pre_exec(move || {
            unshare_unsafe(UnshareFlags::NEWNS)?;
            mount_change(c"/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
            Ok(mount_bind(&file, c"/etc/resolv.conf")?)
        });
    }
    Ok(())
}
