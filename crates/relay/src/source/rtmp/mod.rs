//! A source that publishes by RTMP, as OBS does. `FFmpeg` copies its audio and video into a transport stream.

mod flv;
mod session;

use super::{POLL_INTERVAL, ReadLoop, file};
use crate::address::RtmpAddress;
use crate::notice::Notice;
use session::{Request, Session};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// State that the connections share.
struct Server {
    address: RtmpAddress,
    /// The connection of the publisher, if there is one.
    publisher: Mutex<Option<TcpStream>>,
    /// To the source's thread: the transport stream of a new publisher.
    streams: SyncSender<ChildStdout>,
    notice: Notice,
}

/// The connections that are served at once: those without the key are closed soon.
const MAX_CONNECTIONS: usize = 16;
/// The time without data after which a connection is closed.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The command that copies audio and video from FLV to a transport stream, without delay.
const REMUX: &str = "-nostdin -v fatal -analyzeduration 1000000 -fpsprobesize 0 -f flv -i pipe:0 \
                     -c copy -muxdelay 0 -muxpreload 0 -flush_packets 1 -f mpegts pipe:1";
const HINT: &str = "rtmp:// needs FFmpeg, which is not installed: `apt install ffmpeg` (Debian, Ubuntu), `dnf install ffmpeg-free` \
                    (Fedora), `pacman -S ffmpeg` (Arch)";

/// Listens for publishers.
pub(super) fn open(address: &RtmpAddress, notice: Notice) -> io::Result<ReadLoop> {
    check_ffmpeg()?;
    let listener = TcpListener::bind(address.socket)?;
    // One stream at a time: the next publisher waits until the last one is read to its end.
    let (streams, next) = sync_channel(0);
    let server = Arc::new(Server { address: address.clone(), publisher: Mutex::default(), streams, notice });
    thread::Builder::new().name("rtmp".into()).spawn(move || accept(&listener, &server))?;
    Ok(Box::new(move |out| {
        while out.is_running() {
            match next.recv_timeout(POLL_INTERVAL) {
                Ok(stream) => file::read_live(&mut File::from(OwnedFd::from(stream)), out)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the RTMP server has failed")),
            }
        }
        Ok(())
    }))
}

fn check_ffmpeg() -> io::Result<()> {
    let mut version = Command::new("ffmpeg");
    let found = version.arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.map(drop).map_err(|error| io::Error::new(error.kind(), HINT))
}

fn accept(listener: &TcpListener, server: &Arc<Server>) {
    let places = Arc::new(());
    for stream in listener.incoming().flatten() {
        // The references are those of this loop and of the connections.
        if Arc::strong_count(&places) <= MAX_CONNECTIONS {
            let (server, place) = (server.clone(), places.clone());
            let serve = move || {
                server.serve(stream);
                drop(place);
            };
            let _ = thread::Builder::new().name("rtmp".into()).spawn(serve);
        }
    }
}

impl Server {
    /// Serves a connection until its end.
    fn serve(&self, stream: TcpStream) {
        let Ok(from) = stream.peer_addr().map(|from| from.ip().to_canonical()) else { return };
        if let Err(error) = self.talk(stream, from) {
            // Scanners, and encoders that were stopped: only other protocols are worth a report.
            if error.kind() == io::ErrorKind::InvalidData {
                self.notice.set(format_args!("RTMP: {from} was refused: {error}"));
            }
        }
    }

    fn talk(&self, stream: TcpStream, from: IpAddr) -> io::Result<()> {
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        let mut session = Session::open(stream.try_clone()?)?;
        let number = match session.next()? {
            Request::Publish { number, application, key } if self.address.is_for(&application, &key) => number,
            Request::Publish { number, .. } => {
                self.notice.set(format_args!("RTMP: {from} was refused: another application or key"));
                return session.reject(number, "NetStream.Publish.Denied", "The application or key is unknown.");
            }
            Request::End => return Ok(()),
            Request::Media(_) => return Err(io::Error::new(io::ErrorKind::InvalidData, "it did not ask to publish")),
        };
        session.accept(number)?;
        self.replace(stream)?;
        self.notice.set(format_args!("RTMP: {from} sends"));
        let ended = self.carry(&mut session);
        self.notice.set(match &ended {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => format!("RTMP: {error}"),
            _ => "RTMP: the sender has disconnected".to_owned(),
        });
        ended
    }

    /// Makes a connection that of the publisher; one that it replaces is closed, as a publisher that lost its network cannot say that it
    /// has ended. Both have the key.
    fn replace(&self, stream: TcpStream) -> io::Result<()> {
        let before = self.publisher.lock().unwrap_or_else(PoisonError::into_inner).replace(stream);
        before.map_or(Ok(()), |before| before.shutdown(Shutdown::Both).or(Ok(())))
    }

    /// Passes on media through `FFmpeg`, until the end of the session.
    fn carry(&self, session: &mut Session) -> io::Result<()> {
        let mut remux = Command::new("ffmpeg");
        remux.args(REMUX.split_whitespace()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut remux = remux.spawn()?;
        let (input, stream) = (remux.stdin.take(), remux.stdout.take());
        let (Some(input), Some(stream)) = (input, stream) else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let ended = match self.streams.send(stream) {
            Ok(()) => copy(session, input),
            Err(_) => Ok(()),
        };
        explain(remux, ended)
    }
}

/// Writes media to the input, and closes it at the end.
fn copy(session: &mut Session, mut input: ChildStdin) -> io::Result<()> {
    loop {
        match session.next() {
            Ok(Request::Media(bytes)) => input.write_all(&bytes)?,
            Ok(Request::Publish { .. }) => {}
            Ok(Request::End) | Err(_) => return Ok(()),
        }
    }
}

/// Waits for the end of `FFmpeg`. If it has failed, the error has the last line that it printed.
fn explain(mut remux: Child, ended: io::Result<()>) -> io::Result<()> {
    let mut text = String::new();
    if let Some(errors) = &mut remux.stderr {
        errors.read_to_string(&mut text)?;
    }
    remux.wait()?;
    ended.map_err(|error| {
        let last = text.lines().last().unwrap_or("no output");
        io::Error::new(error.kind(), format!("FFmpeg has ended: {last}"))
    })
}
