//! Control groups (version 2), wherever they are mounted, or nowhere: in `ip netns exec` they are hidden.

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Their tree, mounted for this process alone and nowhere to be seen; gone when it ends.
#[derive(Debug)]
pub struct Tree(OwnedFd);

impl Tree {
    /// Mounts it.
    ///
    /// # Errors
    /// Without the right to mount, or if the kernel has none.
    pub fn open() -> io::Result<Self> {
        let context = fsopen("cgroup2", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        Ok(Self(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?))
    }

    /// Returns a group's folder, for this process.
    pub fn folder(&self, group: &Path) -> PathBuf {
        Path::new("/proc/self/fd").join(self.0.as_raw_fd().to_string()).join(group)
    }
}

/// Returns the group that this process is in.
pub fn own() -> PathBuf {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    PathBuf::from(groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default())
}

/// How often and how long to wait for processes that were killed.
const PAUSE: Duration = Duration::from_millis(10);
const PAUSES: u32 = 500;

/// Ends what still runs in a group, and removes it (`Documentation/admin-guide/cgroup-v2.rst`).
pub fn remove(group: &Path) {
    let Ok(tree) = Tree::open() else { return };
    let folder = tree.folder(group);
    for _ in 0..PAUSES {
        if fs::remove_dir(&folder).is_ok() || !folder.exists() {
            return;
        }
        let _ = fs::write(folder.join("cgroup.kill"), "1");
        thread::sleep(PAUSE);
    }
}
