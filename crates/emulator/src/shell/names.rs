//! Who resolves names for the command: not a server at this machine's loopback address, which in another network is another's.

use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Lets a command find this file where programs look for resolvers, and nobody else.
pub(super) fn resolve_by(command: &mut Command, file: &Path) -> io::Result<()> {
    let file = CString::new(file.as_os_str().as_bytes())?;
    // SAFETY: three system calls of a process that was just forked, which allocate nothing.
    unsafe {
        command.pre_exec(move || {
            unshare_unsafe(UnshareFlags::NEWNS)?;
            mount_change(c"/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
            Ok(mount_bind(&file, c"/etc/resolv.conf")?)
        });
    }
    Ok(())
}
