//! A source that sends by SRT: OBS, a camera, `FFmpeg`.

use super::{POLL_INTERVAL, ReadLoop, UnitSender};
use crate::address::SrtAddress;
use crate::notice::Notice;
use earlybird_live::Clock as _;
use earlybird_srt::{Connection, Listener, MAX_PAYLOAD, Settings, require};
use earlybird_units::{Duration, Instant};
use std::io;
use std::net::SocketAddr;
use std::thread::sleep;

/// The origin of connections.
enum Origin {
    Listener(Listener),
    Caller(SocketAddr, Settings),
}

/// A connected sender.
struct Sender {
    connection: Connection,
    /// The time of its last message.
    last_message: Instant,
}

/// The silence after which another sender may replace one: a sender that lost its network cannot say that it has ended.
const IDLE: Duration = Duration::from_secs(1);

/// The interval at which a listener is polled while a sender is connected.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Opens a listener, or prepares a caller.
pub(super) fn open(address: &SrtAddress) -> io::Result<ReadLoop> {
    require()?;
    let origin = if address.is_listener {
        Origin::Listener(Listener::bind(address.socket, &address.settings)?)
    } else {
        Origin::Caller(address.socket, address.settings.clone())
    };
    Ok(Box::new(move |out| {
        let (mut sender, mut next_check) = (None, Instant::ZERO);
        while out.is_running() {
            let now = out.stamp.clock.now();
            if next_check <= now {
                sender = origin.connect(sender, now, out.notice())?;
                next_check = now + CHECK_INTERVAL;
            }
            match &mut sender {
                None => sleep(POLL_INTERVAL),
                Some(connected) => {
                    if !receive(connected, out) {
                        sender = None;
                    }
                }
            }
        }
        Ok(())
    }))
}

/// Passes on a message, if one arrives in time. Returns whether the sender is still connected.
fn receive(sender: &mut Sender, out: &UnitSender) -> bool {
    let mut buffer = [0; MAX_PAYLOAD];
    match sender.connection.receive(&mut buffer) {
        Ok(count) => {
            sender.last_message = out.stamp.clock.now();
            out.send(&buffer[..count])
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => true,
        Err(_) => {
            out.notice().set("SRT: the sender has disconnected");
            false
        }
    }
}

impl Origin {
    /// Returns the sender, or a new one in its place if it has been silent.
    fn connect(&self, sender: Option<Sender>, now: Instant, notice: &Notice) -> io::Result<Option<Sender>> {
        let is_sending = sender.as_ref().is_some_and(|sender| now - sender.last_message < IDLE);
        let connected = match self {
            Self::Listener(listener) => {
                listener.set_closed(is_sending);
                if let Some(refusal) = listener.refusal() {
                    notice.set(format_args!("SRT: {refusal}"));
                }
                listener.accept()?.map(|(connection, from)| (connection, from.to_string()))
            }
            Self::Caller(to, settings) if sender.is_none() => call(*to, settings, notice),
            Self::Caller(..) => None,
        };
        // A caller whose handshake ended while the sender began to send again is dropped.
        let Some((connection, from)) = connected.filter(|_| !is_sending) else { return Ok(sender) };
        notice.set(format_args!("SRT: {from} sends"));
        Ok(Some(Sender { connection, last_message: now }))
    }
}

fn call(to: SocketAddr, settings: &Settings, notice: &Notice) -> Option<(Connection, String)> {
    let called = Connection::call(to, settings);
    let connection =
        called.inspect_err(|error| notice.set(format_args!("SRT: {to} is not connected: {error}"))).ok()?;
    Some((connection, to.to_string()))
}
