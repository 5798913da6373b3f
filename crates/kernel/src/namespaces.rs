//! Network namespaces and their default congestion controls.

use crate::error::{Error, Result};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

const NAMED: &str = "/run/netns";
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// The name of the current namespace.
pub const OWN: &str = "self";

/// An open network namespace.
#[derive(Debug)]
pub struct Namespace {
    /// The name that was used to open it.
    pub name: String,
    file: File,
}

impl Namespace {
    /// Opens a namespace: a name of `ip netns`, a path such as `/proc/4711/ns/net`, or `self`.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn open(name: &str) -> Result<Self> {
        let path = path_of(name);
        match File::open(&path) {
            Ok(file) => Ok(Self { name: name.to_owned(), file }),
            Err(error) => Err(Error::new(format!(
                "--namespace: `{name}` cannot be opened ({}: {error}); allowed: {}, a path such as /proc/4711/ns/net.",
                path.display(),
                names().collect::<Vec<_>>().join(", ")
            ))),
        }
    }

    /// Returns whether both are the same namespace.
    pub fn is(&self, other: &Self) -> bool {
        matches!((self.number(), other.number()), (Some(one), Some(two)) if one == two)
    }

    fn number(&self) -> Option<u64> {
        // Inode numbers identify namespaces (namespaces(7)).
        self.file.metadata().ok().map(|about| about.ino())
    }

    /// Calls `act` in the namespace, on a new thread, as a namespace is a property of a thread.
    ///
    /// # Errors
    /// If it cannot be entered.
    pub fn inside<T: Send>(&self, act: impl FnOnce() -> T + Send) -> io::Result<T> {
        thread::scope(|scope| {
            let done = scope.spawn(|| {
                // setns(2) affects only the calling thread.
                move_into_link_name_space(self.file.as_fd(), Some(LinkNameSpaceType::Network))?;
                Ok(act())
            });
            done.join().unwrap_or_else(|_| Err(io::Error::other("a thread ended early")))
        })
    }

    /// Returns the default congestion control.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn default_control(&self) -> io::Result<String> {
        self.inside(|| read_line(Path::new(DEFAULT)))?
    }

    /// Sets the default congestion control.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn set_default(&self, control: &str) -> io::Result<()> {
        self.inside(|| fs::write(DEFAULT, control))?
    }

    /// Returns the command that resets its default.
    pub fn reset_command(&self) -> String {
        let set = "sysctl -w net.ipv4.tcp_congestion_control=cubic";
        match self.name.as_str() {
            OWN => set.to_owned(),
            name if name.starts_with('/') => format!("nsenter --net={name} {set}"),
            name => format!("ip netns exec {name} {set}"),
        }
    }
}

fn path_of(name: &str) -> PathBuf {
    match name {
        OWN => PathBuf::from("/proc/thread-self/ns/net"),
        path if path.starts_with('/') => PathBuf::from(path),
        name => Path::new(NAMED).join(name),
    }
}

fn names() -> impl Iterator<Item = String> {
    let named = fs::read_dir(NAMED).into_iter().flatten().flatten();
    std::iter::once(OWN.to_owned()).chain(named.map(|entry| entry.file_name().to_string_lossy().into_owned()))
}

/// Opens all network namespaces that have a name or a process, each once.
pub fn all() -> Vec<Namespace> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let of_processes = processes
        .filter(|entry| entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit))
        .map(|entry| entry.path().join("ns/net").to_string_lossy().into_owned());
    let mut found = BTreeMap::new();
    for name in names().chain(of_processes) {
        if let Ok(namespace) = Namespace::open(&name)
            && let Some(number) = namespace.number()
        {
            // Names come first, so that they win over paths of processes.
            found.entry(number).or_insert(namespace);
        }
    }
    found.into_values().collect()
}

/// Returns the namespaces whose default is this congestion control.
pub fn with_default(control: &str) -> Vec<Namespace> {
    all().into_iter().filter(|namespace| namespace.default_control().is_ok_and(|found| found == control)).collect()
}

/// Reads a file of one line.
///
/// # Errors
/// If it cannot be read.
pub fn read_line(path: &Path) -> io::Result<String> {
    Ok(fs::read_to_string(path)?.trim_end().to_owned())
}
