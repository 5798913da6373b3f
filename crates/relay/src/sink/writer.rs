//! Files, pipes and TCP connections, written on a thread that may block.

use super::queue::{Disconnected, QueueReceiver, QueueSender, Unsent, queue};
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

/// A sink with a thread that writes.
#[derive(Debug)]
pub(crate) struct Writer {
    units: QueueSender,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// The interval of attempts to open a connection to a player.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

impl Writer {
    pub(super) fn to_file(path: &Path) -> io::Result<Self> {
        if path.as_os_str() == "-" {
            // Not `io::stdout()`, whose line buffer would delay units.
            let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
            return Self::on_thread(move |units| write_all(&output, &units));
        }
        // A pipe is opened on the thread, as that may have to wait for a reader.
        if path.metadata().is_ok_and(|known| known.file_type().is_fifo()) {
            let path = path.to_owned();
            return Self::on_thread(move |units| write_with_reconnect(&units, || open_pipe(&path)));
        }
        let file = File::create(path)?;
        Self::on_thread(move |units| write_file(&file, &units))
    }

    /// Writes to a player that connects, or to a server. Reconnects when the connection ends.
    pub(super) fn to_socket(address: SocketAddr) -> io::Result<Self> {
        let listener = if address.ip().is_unspecified() { Some(TcpListener::bind(address)?) } else { None };
        if let Some(listener) = &listener {
            listener.set_nonblocking(true)?;
        }
        Self::on_thread(move |units| {
            write_with_reconnect(&units, || match &listener {
                Some(listener) => {
                    let (stream, _) = listener.accept()?;
                    stream.set_nonblocking(false)?;
                    Ok(stream)
                }
                None => TcpStream::connect(address),
            })
        })
    }

    pub(super) fn on_thread(write: impl FnOnce(QueueReceiver) -> io::Result<()> + Send + 'static) -> io::Result<Self> {
        let (units, receiver) = queue();
        let thread = std::thread::Builder::new().name("sink".into()).spawn(move || {
            let _priority = RealtimePriority::request();
            write(receiver)
        })?;
        Ok(Self { units, thread: Some(thread) })
    }

    /// Queues a unit. Returns whether there was room.
    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<bool> {
        self.units.try_send(bytes.into()).map_err(|Disconnected| self.join_error())
    }

    /// Ends the input.
    pub(super) fn end(&mut self) {
        self.units.end();
    }

    /// Returns the data not written yet.
    pub(super) fn unsent(&self) -> Unsent {
        self.units.unsent()
    }

    fn join_error(&mut self) -> io::Error {
        let ended = self.thread.take().and_then(|thread| thread.join().ok());
        ended.and_then(Result::err).unwrap_or_else(|| io::Error::other("the destination is closed"))
    }

    /// Returns whether the thread has ended.
    pub(super) fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Returns the result of the thread if it has ended; a thread that still writes is detached.
    pub(super) fn close(self) -> io::Result<()> {
        let ended = self.thread.filter(JoinHandle::is_finished);
        ended.map_or(Ok(()), |thread| thread.join().unwrap_or_else(|_| Err(io::Error::other("the writer panicked"))))
    }
}

/// Writes to one player after the other.
pub(super) fn write_with_reconnect<W: Write>(
    units: &QueueReceiver,
    mut open: impl FnMut() -> io::Result<W>,
) -> io::Result<()> {
    loop {
        match open().and_then(|player| write_all(player, units)) {
            Ok(()) => return Ok(()),
            // The player has ended or is not there yet; units for it are outdated and are discarded below.
            Err(_) => sleep(RETRY_INTERVAL),
        }
        if units.discard() {
            return Ok(());
        }
    }
}

/// Opens a pipe for blocking writes, without blocking until there is a reader.
fn open_pipe(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let pipe = rustix::fs::open(path, flags, Mode::empty())?;
    // Writes may block: this thread has nothing else to do.
    fcntl_setfl(&pipe, OFlags::WRONLY)?;
    Ok(pipe.into())
}

fn write_all(mut to: impl Write, units: &QueueReceiver) -> io::Result<()> {
    units.each(|unit| to.write_all(unit))?;
    to.flush()
}

/// Writes units to a file. If the disk is full, a partly written unit is removed.
fn write_file(mut file: &File, units: &QueueReceiver) -> io::Result<()> {
    let mut length = 0;
    units.each(|unit| {
        file.write_all(unit).inspect_err(|_| drop(file.set_len(length)))?;
        length += unit.len() as u64;
        Ok(())
    })
}
