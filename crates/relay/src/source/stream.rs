//! TCP sources.

use super::splitter::{NotTs, TsSplitter};
use super::{POLL_INTERVAL, ReadLoop, UnitSender};
use crate::foreign;
use std::io::{self, Read as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::sleep;

/// The most bytes of a read.
const LONGEST: usize = 1 << 16;

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// Reads a transport stream from a client that connects, or from a server. Reconnects when the stream ends.
pub(super) fn open(address: SocketAddr) -> io::Result<ReadLoop> {
    // `tcp://:port` listens, `tcp://host:port` connects.
    let listener = if address.ip().is_unspecified() { Some(TcpListener::bind(address)?) } else { None };
    if let Some(listener) = &listener {
        listener.set_nonblocking(true)?;
    }
    Ok(Box::new(move |out| {
        while out.is_running() {
            let connected = match &listener {
                Some(listener) => listener.accept().map(|(stream, _)| stream),
                None => TcpStream::connect(address),
            };
            match connected {
                Ok(stream) => read(stream, out)?,
                // No peer yet.
                Err(_) => sleep(POLL_INTERVAL),
            }
        }
        Ok(())
    }))
}

/// The error of a stream that is none of TS packets, with the name of its protocol if that is known.
fn not_ts(beginning: &[u8]) -> io::Error {
    let error = super::file::not_ts();
    match foreign::of_stream(beginning) {
        Some(name) => io::Error::new(error.kind(), format!("this is {name}: {error}")),
        None => error,
    }
}

fn read(mut stream: TcpStream, out: &UnitSender) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(POLL_INTERVAL))?;
    let (mut splitter, mut buffer) = (TsSplitter::default(), vec![0; LONGEST]);
    while out.is_running() {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => match splitter.push(&buffer[..count], |whole| out.send(whole)) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(NotTs) => return Err(not_ts(&buffer[..count])),
            },
            Err(error) if is_timeout(&error) => {}
            // The other program has ended; another one may connect.
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}
