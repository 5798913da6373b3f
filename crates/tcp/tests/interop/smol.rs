//! The other end: smoltcp.

use crate::{Application, Host};
use earlybird_units::Instant;
use earlybird_wire::Addresses;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::time::Instant as SmolInstant;
use smoltcp::wire::{HardwareAddress, IpCidr};
use std::collections::VecDeque;

/// A device that keeps packets.
#[derive(Default)]
struct Memory {
    arrived: VecDeque<Vec<u8>>,
    left: Vec<Vec<u8>>,
}

struct Arrived(Vec<u8>);
struct Leaving<'a>(&'a mut Vec<Vec<u8>>);

impl RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

impl TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let mut packet = vec![0; length];
        let result = write(&mut packet);
        self.0.push(packet);
        result
    }
}

impl Device for Memory {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _: SmolInstant) -> Option<(Arrived, Leaving<'_>)> {
        let packet = self.arrived.pop_front()?;
        Some((Arrived(packet), Leaving(&mut self.left)))
    }

    fn transmit(&mut self, _: SmolInstant) -> Option<Leaving<'_>> {
        Some(Leaving(&mut self.left))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = 1500;
        capabilities
    }
}

pub(crate) struct Smol {
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    device: Memory,
    application: Application,
    is_closed: bool,
}

fn time(now: Instant) -> SmolInstant {
    SmolInstant::from_micros((now.as_nanos() / 1000).cast_signed())
}

impl Smol {
    /// `addresses` are those of what it sends; it has room for `buffer` bytes each way.
    pub(crate) fn new(buffer: usize, addresses: Addresses, opens: bool, application: Application) -> Self {
        let mut device = Memory::default();
        let config = Config::new(HardwareAddress::Ip);
        let mut interface = Interface::new(config, &mut device, SmolInstant::ZERO);
        interface.update_ip_addrs(|own| {
            // The other end is a neighbour.
            let bits = if addresses.source.is_ipv4() { 24 } else { 64 };
            own.push(IpCidr::new(addresses.source.into(), bits)).expect("there is room for one");
        });
        let buffers = [0, 1].map(|_| SocketBuffer::new(vec![0; buffer]));
        let [receive, send] = buffers;
        let mut socket = Socket::new(receive, send);
        // Its clock is a global one otherwise.
        socket.set_tsval_generator(Some(|| 1));
        let peer = (addresses.destination, addresses.destination_port);
        let opened = if opens {
            socket.connect(interface.context(), peer, addresses.source_port).map_err(|error| error.to_string())
        } else {
            socket.listen(addresses.source_port).map_err(|error| error.to_string())
        };
        opened.expect("the ports are free");
        let mut sockets = SocketSet::new(vec![]);
        let handle = sockets.add(socket);
        Self { interface, sockets, handle, device, application, is_closed: false }
    }

    /// Runs the application at this time.
    fn act(&mut self, now: Instant) {
        let socket = self.sockets.get_mut::<Socket<'_>>(self.handle);
        let application = &mut self.application;
        if socket.can_send() && application.written < application.text.len() {
            application.written += socket.send_slice(&application.text[application.written..]).expect("it can");
        }
        if application.reads(now) && socket.can_recv() {
            let received = &mut application.received;
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = socket.recv_slice(&mut buffer) {
                received.extend(&buffer[..count]);
            }
        }
        let is_open = !matches!(socket.state(), State::Listen | State::SynSent | State::SynReceived);
        if !self.is_closed && is_open && application.closes(!socket.may_recv()) {
            self.is_closed = true;
            socket.close();
        }
    }
}

impl Host for Smol {
    fn receive(&mut self, _: Instant, packet: Vec<u8>) {
        self.device.arrived.push_back(packet);
    }

    fn serve(&mut self, now: Instant) -> Vec<Vec<u8>> {
        self.interface.poll(time(now), &mut self.device, &mut self.sockets);
        self.act(now);
        self.interface.poll(time(now), &mut self.device, &mut self.sockets);
        std::mem::take(&mut self.device.left)
    }

    fn next(&mut self, now: Instant) -> Option<Instant> {
        let reads = Some(self.application.reads_from).filter(|at| *at > now);
        let due = self.interface.poll_at(time(now), &self.sockets);
        // Its clock has no nanoseconds.
        let due = due.map(|due| Instant::from_nanos(due.total_micros().max(0) as u64 * 1000).max(now));
        [due, reads].into_iter().flatten().min()
    }

    fn application(&self) -> &Application {
        &self.application
    }

    fn is_over(&mut self) -> bool {
        let socket = self.sockets.get::<Socket<'_>>(self.handle);
        matches!(socket.state(), State::Closed | State::TimeWait) && self.is_closed
    }
}
