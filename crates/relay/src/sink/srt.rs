//! Players and servers that receive by SRT.

use super::writer::{Writer, write_with_reconnect};
use crate::address::SrtAddress;
use crate::notice::Notice;
use earlybird_srt::{Connection, Listener, require};
use std::io::{self, Write};

/// The receivers of the stream: those that have called a listener, or the one that was called.
struct Receivers<'a> {
    listener: Option<&'a Listener>,
    connected: Vec<Connection>,
    notice: &'a Notice,
}

/// The most receivers of a listener, as of `http:`.
const MAX_RECEIVERS: usize = 64;

/// Opens a listener, or prepares a caller. Each reconnects.
pub(super) fn open(address: &SrtAddress, notice: Notice) -> io::Result<Writer> {
    require()?;
    let listener = address.is_listener.then(|| Listener::bind(address.socket, &address.settings)).transpose()?;
    let SrtAddress { socket, settings, .. } = address.clone();
    Writer::on_thread(move |units| {
        write_with_reconnect(&units, || {
            let mut receivers = Receivers { listener: listener.as_ref(), connected: Vec::new(), notice: &notice };
            if receivers.listener.is_none() {
                let called = Connection::call(socket, &settings);
                receivers.connected.push(called.inspect_err(|error| {
                    notice.set(format_args!("SRT: {socket} is not connected: {error}"));
                })?);
                notice.set(format_args!("SRT: {socket} is connected"));
            }
            receivers.accept()?;
            if receivers.connected.is_empty() { Err(io::ErrorKind::NotConnected.into()) } else { Ok(receivers) }
        })
    })
}

impl Receivers<'_> {
    /// Accepts the callers that wait.
    fn accept(&mut self) -> io::Result<()> {
        let Some(listener) = self.listener else { return Ok(()) };
        if let Some(refusal) = listener.refusal() {
            self.notice.set(format_args!("SRT: {refusal}"));
        }
        while let Some((connection, from)) = listener.accept()? {
            self.notice.set(format_args!("SRT: {from} is connected"));
            self.connected.push(connection);
        }
        listener.set_closed(self.connected.len() >= MAX_RECEIVERS);
        Ok(())
    }
}

impl Write for Receivers<'_> {
    fn write(&mut self, unit: &[u8]) -> io::Result<usize> {
        self.accept()?;
        let before = self.connected.len();
        self.connected.retain(|receiver| receiver.send(unit).is_ok());
        if self.connected.len() < before {
            self.notice.set("SRT: a receiver has disconnected");
        }
        if self.connected.is_empty() { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(unit.len()) }
    }

    /// Waits until the receivers have played what was sent.
    fn flush(&mut self) -> io::Result<()> {
        self.connected.iter().for_each(Connection::finish);
        Ok(())
    }
}
