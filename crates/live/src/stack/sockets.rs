//! What an application calls: handles by number, and nothing that waits.

use super::arrivals::disguised;
use super::flow::Flow;
use super::flows::Flows;
use super::settings::{fitted, version_of};
use super::{Entrance, Id, Stack};
use crate::clock::Clock;
use crate::device::{Carriage, Device, Path};
use crate::error::Error;
use earlybird_tcp::{Config, Connection, Cx, Identity, IpVersion, ListenConfig, ListenStatistics, Listener};
use earlybird_wire::Addresses;

/// The first port that is given to who asks for none, and how many there are (RFC 6335 §6).
const DYNAMIC: u16 = 49_152;
const DYNAMIC_COUNT: u16 = u16::MAX - DYNAMIC + 1;

impl<D: Device, C: Clock> Stack<D, C> {
    /// Opens a connection to a port of a peer. Over UDP the peer's socket has a port too, which the path tells. Segments are as large
    /// as the device carries, if [`Config::mss`] is no less.
    ///
    /// # Errors
    ///
    /// If the parameters do not go together or not with the device; if there is no address to open it from, no port, or no room.
    pub fn connect(&mut self, config: &Config, path: Path, port: u16) -> Result<Id, Error> {
        if self.flows.len() >= self.settings.limits.connections {
            return Err(Error::TooManyConnections(self.settings.limits.connections));
        }
        let config = self.fitted(config, version_of(path.remote.ip()))?;
        let addresses = self.free_addresses(path, port)?;
        self.look_at_the_clock();
        let identity = Identity::keyed(&self.settings.secret, &addresses, self.now);
        // As the simulator derives them, so that what is drawn is the same.
        let seeds = self.settings.seeds.nth(self.opened).child("opener");
        let connection = Connection::connect_as(&config, identity, seeds);
        self.opened += 1;
        let flow = Flow::new(Box::new(connection), addresses, path, config.real_time.framing);
        Ok(self.enter(flow))
    }

    fn fitted(&self, config: &Config, version: IpVersion) -> Result<Config, Error> {
        fitted(config, &self.settings.limits, version, &self.device)
    }

    /// Returns the addresses of a connection that is not there yet, as they will stand in what arrives. Where the search for a port
    /// begins strangers cannot guess, and it goes on from there with each connection (RFC 6056 §3.3.3).
    fn free_addresses(&self, path: Path, port: u16) -> Result<Addresses, Error> {
        let source = path.remote.ip();
        let destination = match (self.form.carriage, path.local) {
            (Carriage::Udp, _) => disguised(path.remote),
            (Carriage::Ip, Some(local)) => local,
            (Carriage::Ip, None) => self.settings.address(version_of(source))?,
        };
        let with_port = |destination_port| Addresses { source, destination, source_port: port, destination_port };
        let secret = Identity::keyed(&self.settings.secret, &with_port(0), earlybird_units::Instant::ZERO);
        let first = (secret.origin.0 as u16).wrapping_add(self.opened as u16);
        let ports = (0..DYNAMIC_COUNT).map(|step| DYNAMIC + first.wrapping_add(step) % DYNAMIC_COUNT);
        let mut free = ports.map(with_port).filter(|addresses| self.flows.find(addresses).is_none());
        free.next().ok_or(Error::NoFreePort)
    }

    /// Waits for peers at a port, over both versions of IP as far as the device carries them and the stack has addresses.
    ///
    /// # Errors
    ///
    /// If somebody listens there; if the parameters do not go together or not with the device; if there is no address.
    pub fn listen(&mut self, port: u16, config: &Config, settings: ListenConfig) -> Result<(), Error> {
        if [false, true].iter().any(|is_v6| self.listeners.contains_key(&(port, *is_v6))) {
            return Err(Error::PortInUse(port));
        }
        let made = [IpVersion::V4, IpVersion::V6].map(|version| self.listener(version, config, settings));
        if let [Err(error), Err(_)] = made {
            return Err(error);
        }
        for (listener, is_v6) in made.into_iter().zip([false, true]) {
            if let Ok(listener) = listener {
                self.listeners.insert((port, is_v6), Entrance { listener, has_frames: config.real_time.framing });
            }
        }
        Ok(())
    }

    fn listener(&self, version: IpVersion, config: &Config, settings: ListenConfig) -> Result<Listener, Error> {
        if self.form.carriage == Carriage::Ip {
            self.settings.address(version)?;
        }
        let config = self.fitted(config, version)?;
        let settings = self.restrained(settings);
        let seeds = self.settings.seeds.child("listener");
        Ok(Listener::new(&config, settings, self.settings.secret, seeds))
    }

    /// Over UDP anybody can ask in the name of another: three answers to one SYN are the most (RFC 9000 §8.1), and no cookie of
    /// Fast Open, which is longer than the question.
    fn restrained(&self, settings: ListenConfig) -> ListenConfig {
        match self.form.carriage {
            Carriage::Ip => settings,
            Carriage::Udp => ListenConfig { repeats: settings.repeats.min(2), fast_open: None, ..settings },
        }
    }

    /// Listens no more at a port. Connections that nobody accepted are reset; the others go on.
    ///
    /// # Errors
    ///
    /// If nobody listens there.
    pub fn unlisten(&mut self, port: u16) -> Result<(), Error> {
        self.accept_checked(port)?;
        while let Some(id) = self.accept(port) {
            self.abort(id)?;
        }
        self.listeners.retain(|(door, _), _| *door != port);
        Ok(())
    }

    /// Returns whether somebody listens at a port.
    fn accept_checked(&self, port: u16) -> Result<(), Error> {
        self.entrances(port).next().map(|_| ()).ok_or(Error::NotListening(port))
    }

    fn entrances(&self, port: u16) -> impl Iterator<Item = &Entrance> {
        self.listeners.range((port, false)..=(port, true)).map(|(_, entrance)| entrance)
    }

    /// Returns the next connection that a peer opened at a port, in order; one that is over already among them.
    pub fn accept(&mut self, port: u16) -> Option<Id> {
        let mut entrances = self.listeners.range_mut((port, false)..=(port, true));
        entrances.find_map(|(_, entrance)| {
            let addresses = entrance.listener.accept()?;
            self.flows.find(&addresses)
        })
    }

    /// Returns the counters of the listeners at a port, of both versions of IP.
    pub fn listen_statistics(&self, port: u16) -> impl Iterator<Item = &ListenStatistics> {
        self.entrances(port).map(|entrance| entrance.listener.statistics())
    }

    /// Does something to a connection, and what follows from it.
    fn act<R>(&mut self, id: Id, act: impl FnOnce(&mut Flow, &mut Cx<'_>) -> R) -> Result<R, Error> {
        self.look_at_the_clock();
        let Self { flows, watcher, now, .. } = self;
        let flow = open_flow(flows, id)?;
        let result = watcher.during(*now, id, |cx| act(flow, cx));
        self.after(id);
        Ok(result)
    }

    /// Writes as much as there is room for, and gives how many bytes that were; [`Event::Writable`] tells when there is more.
    ///
    /// # Errors
    ///
    /// If the connection is gone, takes no more, or takes frames.
    ///
    /// [`Event::Writable`]: crate::Event::Writable
    pub fn write(&mut self, id: Id, bytes: &[u8]) -> Result<usize, Error> {
        Ok(self.act(id, |flow, _| flow.write(bytes))??)
    }

    /// Reads what has arrived in order and fits; gives how many bytes that were.
    ///
    /// # Errors
    ///
    /// If the connection is gone.
    pub fn read(&mut self, id: Id, into: &mut [u8]) -> Result<usize, Error> {
        self.act(id, |flow, _| flow.read(into))
    }

    /// Writes a frame, which becomes one segment; frames of one unit belong together. Gives its number; see
    /// [`Connection::write_frame`].
    ///
    /// # Errors
    ///
    /// If the connection is gone, takes no frames, or not this one.
    pub fn write_frame(&mut self, id: Id, bytes: &[u8], unit: u64) -> Result<u64, Error> {
        Ok(self.act(id, |flow, cx| flow.write_frame(cx, bytes, unit))??)
    }

    /// Reads a frame and gives its length. Without one the reader waits from now on: what is missing may be stepped over for it;
    /// see [`Connection::read_frame`].
    ///
    /// # Errors
    ///
    /// If the connection is gone, or the frame does not fit.
    pub fn read_frame(&mut self, id: Id, into: &mut [u8]) -> Result<Option<usize>, Error> {
        self.act(id, |flow, cx| flow.read_frame(cx, into))?.map_err(Error::FrameTooLong)
    }

    /// Copies as much as fits of the frame that [`Self::read_frame`] would give, and leaves it there: a reader that finds in it when
    /// it is due need not step over a hole before. Gives how many bytes that were.
    ///
    /// # Errors
    ///
    /// If the connection is gone.
    pub fn peek_frame(&self, id: Id, into: &mut [u8]) -> Result<Option<usize>, Error> {
        let flow = self.flows.get(id).filter(|flow| !flow.is_released).ok_or(Error::UnknownConnection)?;
        Ok(flow.peek_frame(into))
    }

    /// Copies as much as fits of the highest frame that came and was not read, and leaves it there. Gives how many bytes that were.
    ///
    /// # Errors
    ///
    /// If the connection is gone.
    pub fn newest_frame(&self, id: Id, into: &mut [u8]) -> Result<Option<usize>, Error> {
        let flow = self.flows.get(id).filter(|flow| !flow.is_released).ok_or(Error::UnknownConnection)?;
        Ok(flow.newest_frame(into))
    }

    /// Ends the wait for a frame: what is missing may be repeated again.
    ///
    /// # Errors
    ///
    /// If the connection is gone.
    pub fn stop_waiting(&mut self, id: Id) -> Result<(), Error> {
        self.act(id, |flow, _| flow.connection.stop_waiting())
    }

    /// Returns the number of the next frame that was given up; the last 1024 are remembered.
    ///
    /// # Errors
    ///
    /// If the connection is gone.
    pub fn poll_abandoned(&mut self, id: Id) -> Result<Option<u64>, Error> {
        Ok(open_flow(&mut self.flows, id)?.frames.as_mut().and_then(|frames| frames.next_discarded()))
    }

    /// Switches Nagle's algorithm on or off.
    ///
    /// # Errors
    ///
    /// If the connection is gone.
    pub fn set_nagle(&mut self, id: Id, nagle: bool) -> Result<(), Error> {
        self.act(id, |flow, _| flow.connection.set_nagle(nagle))
    }

    /// Ends writing: what was written is still sent. The peer may go on.
    ///
    /// # Errors
    ///
    /// If the connection is gone.
    pub fn shutdown(&mut self, id: Id) -> Result<(), Error> {
        self.act(id, |flow, _| flow.connection.shutdown())
    }

    /// Leaves a connection to itself: what was written is still sent; its number is worth nothing any more. What arrived and was
    /// not read is lost, of which the peer is told by a reset.
    ///
    /// # Errors
    ///
    /// If the connection is gone.
    pub fn close(&mut self, id: Id) -> Result<(), Error> {
        self.act(id, |flow, cx| {
            flow.connection.close(cx);
            flow.release();
        })
    }

    /// Returns a connection up: the peer is reset.
    ///
    /// # Errors
    ///
    /// If the connection is gone.
    pub fn abort(&mut self, id: Id) -> Result<(), Error> {
        self.act(id, |flow, _| {
            flow.connection.abort();
            flow.release();
        })
    }

    /// Returns the connection itself, for all that can be asked of it.
    ///
    /// # Errors
    ///
    /// If it is gone.
    pub fn connection(&self, id: Id) -> Result<&Connection, Error> {
        let flow = self.flows.get(id).filter(|flow| !flow.is_released);
        flow.map(|flow| &*flow.connection).ok_or(Error::UnknownConnection)
    }

    /// Returns the path to the peer, and the peer's port.
    ///
    /// # Errors
    ///
    /// If the connection is gone.
    pub fn peer(&self, id: Id) -> Result<(Path, u16), Error> {
        let flow = self.flows.get(id).ok_or(Error::UnknownConnection)?;
        Ok((flow.path, flow.addresses.source_port))
    }
}

/// Returns a connection that the application has not closed.
fn open_flow(flows: &mut Flows, id: Id) -> Result<&mut Flow, Error> {
    flows.get_mut(id).filter(|flow| !flow.is_released).ok_or(Error::UnknownConnection)
}
