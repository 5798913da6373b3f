//! The socket API: non-blocking calls with connection identifiers.

use super::connection_entry::ConnectionEntry;
use super::connection_table::ConnectionTable;
use super::frames::AbandonedFrame;
use super::rx::address_from_port;
use super::settings::{fit_config, version_of};
use super::{Id, ListenEntry, Stack};
use crate::clock::Clock;
use crate::device::{Device, Encapsulation, Path};
use crate::error::Error;
use earlybird_tcp::{Config, Connection, Cx, Identity, IpVersion, ListenConfig, ListenStatistics, Listener};
use earlybird_units::{Duration, Instant};
use earlybird_wire::Addresses;

/// The dynamic port range (RFC 6335 §6).
const FIRST_DYNAMIC_PORT: u16 = 49_152;
const DYNAMIC_PORTS: u16 = u16::MAX - FIRST_DYNAMIC_PORT + 1;

impl<D: Device, C: Clock> Stack<D, C> {
    /// Opens a connection to a TCP port of a peer. Over UDP the path also contains the UDP port of the peer. The MSS is at most
    /// that of the device.
    ///
    /// # Errors
    ///
    /// If the configuration is invalid or does not fit the device; if there is no local address, no free port, or no room for
    /// another connection.
    pub fn connect(&mut self, config: &Config, path: Path, port: u16) -> Result<Id, Error> {
        if self.connections.len() >= self.settings.limits.connections {
            return Err(Error::TooManyConnections(self.settings.limits.connections));
        }
        let mut config = self.fit_config(config, version_of(path.remote.ip()))?;
        // The MSS option tells the peer too.
        if let Some(mtu) = self.known_mtu(path.remote) {
            config = config.with_mss(config.segments.mss.min(self.encapsulator.mss(path.remote.ip(), mtu)));
        }
        let addresses = self.free_addresses(path, port)?;
        self.update_now();
        let identity = Identity::keyed(&self.settings.secret, &addresses, self.now);
        // The same derivation as in the simulator, so that both draw the same random numbers.
        let seeds = self.settings.seeds.nth(self.opened).child("opener");
        let connection = Connection::connect_as(&config, identity, seeds);
        self.opened += 1;
        let entry = ConnectionEntry::new(Box::new(connection), addresses, path, config.real_time.framing);
        Ok(self.insert(entry))
    }

    fn fit_config(&self, config: &Config, version: IpVersion) -> Result<Config, Error> {
        fit_config(config, &self.settings.limits, version, &self.device)
    }

    /// Returns the addresses of a new connection as they will appear in received packets. The search for a port starts at an
    /// offset that others cannot guess and continues with each connection (RFC 6056 §3.3.3).
    fn free_addresses(&self, path: Path, port: u16) -> Result<Addresses, Error> {
        let source = path.remote.ip();
        let destination = match (self.encapsulator.encapsulation, path.local) {
            (Encapsulation::Udp, _) => address_from_port(path.remote),
            (Encapsulation::Ip, Some(local)) => local,
            (Encapsulation::Ip, None) => self.settings.address(version_of(source))?,
        };
        let with_port = |destination_port| Addresses { source, destination, source_port: port, destination_port };
        let secret = Identity::keyed(&self.settings.secret, &with_port(0), earlybird_units::Instant::ZERO);
        let first = (secret.origin.0 as u16).wrapping_add(self.opened as u16);
        let ports = (0..DYNAMIC_PORTS).map(|step| FIRST_DYNAMIC_PORT + first.wrapping_add(step) % DYNAMIC_PORTS);
        let mut free = ports.map(with_port).filter(|addresses| self.connections.find(addresses).is_none());
        free.next().ok_or(Error::NoFreePort)
    }

    /// Listens at a port, over each IP version that the device carries and the stack has an address of.
    ///
    /// # Errors
    ///
    /// If the port is in use; if the configuration is invalid or does not fit the device; if there is no local address.
    pub fn listen(&mut self, port: u16, config: &Config, settings: ListenConfig) -> Result<(), Error> {
        if [false, true].iter().any(|is_v6| self.listeners.contains_key(&(port, *is_v6))) {
            return Err(Error::PortInUse(port));
        }
        // One version is enough: a host may have no IPv6 address.
        let made = [IpVersion::V4, IpVersion::V6].map(|version| self.listener(version, config, settings));
        if let [Err(error), Err(_)] = made {
            return Err(error);
        }
        for (listener, is_v6) in made.into_iter().zip([false, true]) {
            if let Ok(listener) = listener {
                self.listeners.insert((port, is_v6), ListenEntry { listener, has_frames: config.real_time.framing });
            }
        }
        Ok(())
    }

    fn listener(&self, version: IpVersion, config: &Config, settings: ListenConfig) -> Result<Listener, Error> {
        if self.encapsulator.encapsulation == Encapsulation::Ip {
            self.settings.address(version)?;
        }
        let config = self.fit_config(config, version)?;
        let settings = self.without_amplification(settings);
        // As in the simulator, too.
        let seeds = self.settings.seeds.child("listener");
        Ok(Listener::new(&config, settings, self.settings.secret, seeds))
    }

    /// Limits amplification over UDP, where source addresses can be spoofed: at most three replies per SYN (as RFC 9000 §8.1),
    /// and no Fast Open cookies, which make the reply longer than the SYN.
    fn without_amplification(&self, settings: ListenConfig) -> ListenConfig {
        match self.encapsulator.encapsulation {
            Encapsulation::Ip => settings,
            Encapsulation::Udp => {
                ListenConfig { synack_retries: settings.synack_retries.min(2), fast_open: None, ..settings }
            }
        }
    }

    /// Stops listening at a port. Connections that were not accepted are reset; the others continue.
    ///
    /// # Errors
    ///
    /// If no listener uses the port.
    pub fn unlisten(&mut self, port: u16) -> Result<(), Error> {
        self.check_listening(port)?;
        while let Some(id) = self.accept(port) {
            self.abort(id)?;
        }
        self.listeners.retain(|(listening, _), _| *listening != port);
        Ok(())
    }

    /// Checks that a listener uses the port.
    fn check_listening(&self, port: u16) -> Result<(), Error> {
        self.listen_entries(port).next().map(|_| ()).ok_or(Error::NotListening(port))
    }

    fn listen_entries(&self, port: u16) -> impl Iterator<Item = &ListenEntry> {
        self.listeners.range((port, false)..=(port, true)).map(|(_, listen_entry)| listen_entry)
    }

    /// Returns the next connection that a peer opened at a port, in order. It may have ended already.
    pub fn accept(&mut self, port: u16) -> Option<Id> {
        // Connections of both IP versions share the accept queue of a port, as with a dual-stack socket.
        let mut listen_entries = self.listeners.range_mut((port, false)..=(port, true));
        listen_entries.find_map(|(_, listen_entry)| {
            let addresses = listen_entry.listener.accept()?;
            self.connections.find(&addresses)
        })
    }

    /// Returns the counters of the listeners at a port, one per IP version.
    pub fn listen_statistics(&self, port: u16) -> impl Iterator<Item = &ListenStatistics> {
        self.listen_entries(port).map(|listen_entry| listen_entry.listener.statistics())
    }

    /// Calls `act` with a connection, then queues its events and segments.
    fn with_connection<R>(
        &mut self,
        id: Id,
        act: impl FnOnce(&mut ConnectionEntry, &mut Cx<'_>) -> R,
    ) -> Result<R, Error> {
        self.update_now();
        let Self { connections, observer, now, .. } = self;
        let entry = open_entry(connections, id)?;
        let result = observer.with_context(*now, id, |cx| act(entry, cx));
        self.after_update(id);
        Ok(result)
    }

    /// Writes as many bytes as the send buffer has room for, and returns their number. [`Event::Writable`] follows when there is
    /// room again.
    ///
    /// # Errors
    ///
    /// If the connection is unknown, closed for writing, or in real-time mode.
    ///
    /// [`Event::Writable`]: crate::Event::Writable
    pub fn write(&mut self, id: Id, bytes: &[u8]) -> Result<usize, Error> {
        Ok(self.with_connection(id, |entry, _| entry.write(bytes))??)
    }

    /// Reads bytes in order into `into`, and returns their number.
    ///
    /// # Errors
    ///
    /// If the connection is unknown.
    pub fn read(&mut self, id: Id, into: &mut [u8]) -> Result<usize, Error> {
        self.with_connection(id, |entry, _| entry.read(into))
    }

    /// Writes a frame, which becomes one segment; frames of one unit belong together. Returns its number; see
    /// [`Connection::write_frame`].
    ///
    /// # Errors
    ///
    /// If the connection is unknown or not in real-time mode, or refuses the frame.
    pub fn write_frame(&mut self, id: Id, bytes: &[u8], unit: u64) -> Result<u64, Error> {
        Ok(self.with_connection(id, |entry, cx| entry.write_frame(cx, bytes, unit))??)
    }

    /// Reads a frame and returns its length. If none is available the reader waits from now on, and missing frames may be skipped
    /// for it; see [`Connection::read_frame`].
    ///
    /// # Errors
    ///
    /// If the connection is unknown, or the frame is longer than `into`.
    pub fn read_frame(&mut self, id: Id, into: &mut [u8]) -> Result<Option<usize>, Error> {
        self.with_connection(id, |entry, cx| entry.read_frame(cx, into))?.map_err(Error::FrameTooLong)
    }

    /// Copies the start of the frame that [`Self::read_frame`] would return, without consuming it, and returns the number of
    /// bytes. A reader that finds a later due time in it need not skip a hole yet.
    ///
    /// # Errors
    ///
    /// If the connection is unknown.
    pub fn peek_frame(&self, id: Id, into: &mut [u8]) -> Result<Option<usize>, Error> {
        let entry = self.connections.get(id).filter(|entry| !entry.is_released).ok_or(Error::UnknownConnection)?;
        Ok(entry.peek_frame(into))
    }

    /// Copies the start of the newest frame, without consuming it, and returns the number of bytes.
    ///
    /// # Errors
    ///
    /// If the connection is unknown.
    pub fn newest_frame(&self, id: Id, into: &mut [u8]) -> Result<Option<usize>, Error> {
        let entry = self.connections.get(id).filter(|entry| !entry.is_released).ok_or(Error::UnknownConnection)?;
        Ok(entry.newest_frame(into))
    }

    /// Ends the wait for a frame: missing frames may be retransmitted again instead of skipped.
    ///
    /// # Errors
    ///
    /// If the connection is unknown.
    pub fn stop_waiting(&mut self, id: Id) -> Result<(), Error> {
        self.with_connection(id, |entry, _| entry.connection.stop_waiting())
    }

    /// Returns the next abandoned frame. The last 1024 are kept.
    ///
    /// # Errors
    ///
    /// If the connection is unknown.
    pub fn poll_abandoned(&mut self, id: Id) -> Result<Option<AbandonedFrame>, Error> {
        Ok(open_entry(&mut self.connections, id)?.frames.as_mut().and_then(|frames| frames.next_abandoned()))
    }

    /// Returns the number of units that have frames which are neither acknowledged nor abandoned.
    ///
    /// # Errors
    ///
    /// If the connection is unknown.
    pub fn units_held(&self, id: Id) -> Result<u64, Error> {
        let entry = self.connections.get(id).filter(|entry| !entry.is_released).ok_or(Error::UnknownConnection)?;
        let mut units: Vec<_> = entry.frames.iter().flat_map(|frames| frames.units()).collect();
        units.dedup();
        Ok(units.len() as u64)
    }

    /// Enables or disables Nagle's algorithm.
    ///
    /// # Errors
    ///
    /// If the connection is unknown.
    pub fn set_nagle(&mut self, id: Id, nagle: bool) -> Result<(), Error> {
        self.with_connection(id, |entry, _| entry.connection.set_nagle(nagle))
    }

    /// Closes the sending direction: written data is still sent. The peer may continue to send.
    ///
    /// # Errors
    ///
    /// If the connection is unknown.
    pub fn shutdown(&mut self, id: Id) -> Result<(), Error> {
        self.with_connection(id, |entry, _| entry.connection.shutdown())
    }

    /// Closes a connection and releases its identifier: written data is still sent. Unread data is lost, which the peer learns by
    /// a reset (RFC 9293 §3.6).
    ///
    /// # Errors
    ///
    /// If the connection is unknown.
    pub fn close(&mut self, id: Id) -> Result<(), Error> {
        self.with_connection(id, |entry, cx| {
            entry.connection.close(cx);
            entry.release();
        })
    }

    /// Changes the time after its write at which a frame of a connection is abandoned ([`Connection::set_frame_deadline`]).
    ///
    /// # Errors
    ///
    /// If the connection is unknown.
    pub fn set_frame_deadline(&mut self, id: Id, deadline: Duration) -> Result<(), Error> {
        self.with_connection(id, |entry, _| entry.connection.set_frame_deadline(deadline))
    }

    /// Aborts a connection: sends a reset and releases its identifier.
    ///
    /// # Errors
    ///
    /// If the connection is unknown.
    pub fn abort(&mut self, id: Id) -> Result<(), Error> {
        self.with_connection(id, |entry, _| {
            entry.connection.abort();
            entry.release();
        })
    }

    /// Returns the connection, for its statistics and state.
    ///
    /// # Errors
    ///
    /// If the connection is unknown.
    pub fn connection(&self, id: Id) -> Result<&Connection, Error> {
        let entry = self.connections.get(id).filter(|entry| !entry.is_released);
        entry.map(|entry| &*entry.connection).ok_or(Error::UnknownConnection)
    }

    /// Sends a probe that the peer must answer, whatever the timers do: repeats the SYN, or sends a keep-alive probe.
    ///
    /// # Errors
    ///
    /// If the connection is unknown.
    pub fn probe(&mut self, id: Id) -> Result<(), Error> {
        self.with_connection(id, |entry, _| entry.connection.probe())
    }

    /// Returns when the last segment from the peer arrived; when the connection was opened, if none has.
    ///
    /// # Errors
    ///
    /// If the connection is unknown.
    pub fn last_received(&self, id: Id) -> Result<Instant, Error> {
        self.connections.get(id).map(|entry| entry.last_received).ok_or(Error::UnknownConnection)
    }

    /// Returns the path to the peer, and the TCP port of the peer.
    ///
    /// # Errors
    ///
    /// If the connection is unknown.
    pub fn peer(&self, id: Id) -> Result<(Path, u16), Error> {
        let entry = self.connections.get(id).ok_or(Error::UnknownConnection)?;
        Ok((entry.path, entry.addresses.source_port))
    }
}

/// Returns a connection that the application has not closed.
fn open_entry(connections: &mut ConnectionTable, id: Id) -> Result<&mut ConnectionEntry, Error> {
    connections.get_mut(id).filter(|entry| !entry.is_released).ok_or(Error::UnknownConnection)
}
