//! Control groups (version 2), wherever they are mounted: `ip netns exec` hides `/sys/fs/cgroup`.

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The hierarchy, mounted privately for this process; unmounted when it ends.
#[derive(Debug)]
pub struct CgroupTree(OwnedFd);

impl CgroupTree {
    /// Mounts it.
    ///
    /// # Errors
    /// If the process may not mount, or the kernel lacks cgroups.
    pub fn open() -> io::Result<Self> {
        // A detached mount: nothing becomes visible in the namespace.
        let context = fsopen("cgroup2", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        Ok(Self(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?))
    }

    /// Returns the folder of a cgroup, as this process sees it.
    pub fn folder(&self, group: &Path) -> PathBuf {
        Path::new("/proc/self/fd").join(self.0.as_raw_fd().to_string()).join(group)
    }
}

/// Returns the cgroup of this process.
pub fn own() -> PathBuf {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    PathBuf::from(groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default())
}

/// The interval and number of polls for killed processes to end.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
const MAX_POLLS: u32 = 500;

/// Kills all processes of a cgroup and removes it (`Documentation/admin-guide/cgroup-v2.rst`).
pub fn remove(group: &Path) {
    let Ok(tree) = CgroupTree::open() else { return };
    let folder = tree.folder(group);
    for _ in 0..MAX_POLLS {
        if fs::remove_dir(&folder).is_ok() || !folder.exists() {
            return;
        }
        // Linux 5.14 and later; kills forks that race with it, too.
        let _ = fs::write(folder.join("cgroup.kill"), "1");
        thread::sleep(POLL_INTERVAL);
    }
}
