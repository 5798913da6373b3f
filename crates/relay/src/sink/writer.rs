//! Files, pipes and connections, written on a thread of their own: a disk or a peer may take its time.

use super::queue::{Entry, Exit, Gone, Left, queue};
use earlybird_scheduling::RealtimePriority;
use rustix::fs::{Mode, OFlags, fcntl_setfl};
use std::fs::File;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

/// A sink that is written on a thread.
#[derive(Debug)]
pub(crate) struct Writer {
    units: Entry,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// Time between two attempts to reach a peer.
const PAUSE: Duration = Duration::from_millis(500);

impl Writer {
    pub(super) fn to_file(path: &Path) -> io::Result<Self> {
        if path.as_os_str() == "-" {
            // Unit by unit, without the buffer that waits for the end of a line.
            let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
            return Self::on_thread(move |units| write_all(&output, &units));
        }
        if path.metadata().is_ok_and(|known| known.file_type().is_fifo()) {
            let path = path.to_owned();
            return Self::on_thread(move |units| write_again(&units, || open_pipe(&path)));
        }
        let file = File::create(path)?;
        Self::on_thread(move |units| write_whole(&file, &units))
    }

    /// Writes to whoever connects, or to where this connects to; and again when that has ended.
    pub(super) fn to_socket(address: SocketAddr) -> io::Result<Self> {
        let listener = if address.ip().is_unspecified() { Some(TcpListener::bind(address)?) } else { None };
        if let Some(listener) = &listener {
            listener.set_nonblocking(true)?;
        }
        Self::on_thread(move |units| {
            write_again(&units, || match &listener {
                Some(listener) => {
                    let (stream, _) = listener.accept()?;
                    stream.set_nonblocking(false)?;
                    Ok(stream)
                }
                None => TcpStream::connect(address),
            })
        })
    }

    fn on_thread(write: impl FnOnce(Exit) -> io::Result<()> + Send + 'static) -> io::Result<Self> {
        let (units, waiting) = queue();
        let thread = std::thread::Builder::new().name("sink".into()).spawn(move || {
            let _priority = RealtimePriority::request();
            write(waiting)
        })?;
        Ok(Self { units, thread: Some(thread) })
    }

    /// Hands over a unit; says whether there was room.
    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<bool> {
        self.units.put(bytes.into()).map_err(|Gone| self.reason())
    }

    /// Hands over no more.
    pub(super) fn end(&mut self) {
        self.units.end();
    }

    /// Returns what is not written yet.
    pub(super) fn left(&self) -> Left {
        self.units.left()
    }

    fn reason(&mut self) -> io::Error {
        let ended = self.thread.take().and_then(|thread| thread.join().ok());
        ended.and_then(Result::err).unwrap_or_else(|| io::Error::other("the destination is closed"))
    }

    /// Returns whether nothing is being written any more.
    pub(super) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Returns how the writing ended; one that still goes on is left alone.
    pub(super) fn close(self) -> io::Result<()> {
        let ended = self.thread.filter(JoinHandle::is_finished);
        ended.map_or(Ok(()), |thread| thread.join().unwrap_or_else(|_| Err(io::Error::other("it failed"))))
    }
}

/// Writes to a player, and to the next one when that has gone.
fn write_again<W: Write>(units: &Exit, mut open: impl FnMut() -> io::Result<W>) -> io::Result<()> {
    loop {
        match open().and_then(|player| write_all(player, units)) {
            Ok(()) => return Ok(()),
            // The player is gone, or not there yet: what it would have shown is past.
            Err(_) => sleep(PAUSE),
        }
        if units.forget() {
            return Ok(());
        }
    }
}

/// Opens a pipe that somebody reads from: without waiting, as nobody may ever come, but for writes that do wait.
fn open_pipe(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let pipe = rustix::fs::open(path, flags, Mode::empty())?;
    fcntl_setfl(&pipe, OFlags::WRONLY)?;
    Ok(pipe.into())
}

fn write_all(mut to: impl Write, units: &Exit) -> io::Result<()> {
    units.each(|unit| to.write_all(unit))
}

/// Writes units to a file, of which none stays half written when the disk is full.
fn write_whole(mut file: &File, units: &Exit) -> io::Result<()> {
    let mut length = 0;
    units.each(|unit| {
        file.write_all(unit).inspect_err(|_| drop(file.set_len(length)))?;
        length += unit.len() as u64;
        Ok(())
    })
}
