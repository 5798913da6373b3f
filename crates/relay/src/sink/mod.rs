//! Sinks of media. A sink never blocks the relay: whole units are dropped if it cannot accept them.

mod datagrams;
mod http;
mod queue;
mod srt;
mod writer;

pub use queue::Unsent;

use crate::address::Address;
use crate::notice::Notice;
use std::io;

/// A sink.
#[derive(Debug)]
pub(crate) enum Sink {
    Datagrams(datagrams::Datagrams),
    Writer(writer::Writer),
    Http(http::Server),
    Srt { writer: writer::Writer, notice: Notice },
}

impl Sink {
    /// Opens a sink.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub(crate) fn open(address: &Address) -> io::Result<Self> {
        Ok(match address {
            Address::Udp(to) => Self::Datagrams(datagrams::Datagrams::open(to, false)?),
            Address::Rtp(to) => Self::Datagrams(datagrams::Datagrams::open(to, true)?),
            Address::Tcp(to) => Self::Writer(writer::Writer::to_socket(*to)?),
            Address::File(path) => Self::Writer(writer::Writer::to_file(path)?),
            Address::Http(at) => Self::Http(http::Server::bind(*at)?),
            Address::Srt(srt) => {
                let notice = Notice::default();
                Self::Srt { writer: srt::open(srt, notice.clone())?, notice }
            }
            Address::Rtmp(_) | Address::Relay(_) => {
                return Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    "this is no destination: rtmp:// only receives",
                ));
            }
        })
    }

    /// Passes on a unit with its source time. Returns whether it was accepted.
    ///
    /// # Errors
    ///
    /// If the sink failed permanently, for example because the disk is full.
    pub(crate) fn put(&mut self, time_us: u64, bytes: &[u8]) -> io::Result<bool> {
        match self {
            Self::Datagrams(datagrams) => Ok(datagrams.put(time_us, bytes)),
            Self::Writer(writer) | Self::Srt { writer, .. } => writer.put(bytes),
            Self::Http(server) => Ok(server.put(bytes)),
        }
    }

    /// Ends the input; queued units are still written.
    pub(crate) fn end(&mut self) {
        match self {
            Self::Writer(writer) | Self::Srt { writer, .. } => writer.end(),
            Self::Http(server) => server.end(),
            Self::Datagrams(_) => {}
        }
    }

    /// Returns whether everything is written.
    pub(crate) fn is_finished(&self) -> bool {
        match self {
            Self::Writer(writer) | Self::Srt { writer, .. } => writer.is_finished(),
            Self::Http(server) => server.unsent() == Unsent::default(),
            Self::Datagrams(_) => true,
        }
    }

    /// Returns the data not written yet.
    pub(crate) fn unsent(&self) -> Unsent {
        match self {
            Self::Writer(writer) | Self::Srt { writer, .. } => writer.unsent(),
            Self::Http(server) => server.unsent(),
            Self::Datagrams(_) => Unsent::default(),
        }
    }

    /// Returns the last event, such as a player that was refused.
    pub(crate) fn notice(&self) -> Option<String> {
        if let Self::Srt { notice, .. } = self { notice.get() } else { None }
    }

    /// Returns the error of the writer if it has ended with one.
    ///
    /// # Errors
    ///
    /// If writing failed.
    pub(crate) fn close(self) -> io::Result<()> {
        match self {
            Self::Writer(writer) | Self::Srt { writer, .. } => writer.close(),
            Self::Datagrams(_) | Self::Http(_) => Ok(()),
        }
    }
}
