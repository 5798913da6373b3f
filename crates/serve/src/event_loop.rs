//! The event loop of a proxy: one thread, over the TUN device and the sockets of the server.

use crate::proxy::Proxy;
use crate::report::Report;
use crate::settings::{ServeError, Settings};
use crate::transport::config_of;
use earlybird_live::device::{Device, Tun};
use earlybird_live::{Clock, MonotonicClock, Stack};
use earlybird_tcp::ListenConfig;
use earlybird_units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::num::NonZeroU64;

/// A command to a running proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Keep running.
    Continue,
    /// Accept no more connections, and stop when all have ended.
    Drain,
    /// Reset all connections, and stop.
    Stop,
}

/// The interval of reports.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// The interval at which the `watch` callback is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The MTU of Ethernet; routers report smaller ones by ICMP.
const MTU: u16 = 1500;
/// Sockets of servers that are handled in one turn.
const READY: usize = 256;
/// Connections in TIME-WAIT beside the open ones; beyond that SYNs are dropped until the oldest have waited their minute.
const TIME_WAIT: usize = 32_768;
/// Descriptors beside those of the connections.
const OWN_DESCRIPTORS: u64 = 64;
/// Batches of packets that are sent at the end, for the resets of aborted connections.
const LAST_BATCHES: usize = 10_000;
/// Advice if the privilege is missing.
const PERMISSION_HINT: &str =
    "needs root (CAP_NET_ADMIN), as it creates a TUN device and redirects packets to it: run it with sudo";

/// Accepts connections of clients, and forwards them to the server until `watch` returns a command to end.
///
/// `watch` is called every 50 ms, with a report once a second; the first report means that clients are accepted. Returns the last report.
///
/// # Errors
///
/// See [`ServeError`].
pub fn serve(settings: &Settings, watch: &mut dyn FnMut(Option<&Report>) -> Command) -> Result<Report, ServeError> {
    let config = config_of(&settings.transport).map_err(ServeError::Transport)?;
    raise_open_files(settings.max_connections)?;
    let mut own = earlybird_live::Settings::random(&[settings.address]).map_err(ServeError::Device)?;
    own.limits.connections = settings.max_connections + TIME_WAIT;
    let device = tun(settings).map_err(ServeError::Device)?;
    let mut stack = Stack::new(device, MonotonicClock::default(), own)?;
    stack.listen(settings.port, &config, ListenConfig::default())?;
    let proxy = Proxy::new(settings.clone()).map_err(ServeError::Device)?;
    // The default slack lets each timer fire up to 50 µs late (PR_SET_TIMERSLACK).
    let exact = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    exact.map_err(|error| ServeError::Device(error.into()))?;
    let ready = Vec::with_capacity(READY);
    let event_loop = EventLoop { stack, proxy, ready, next_poll: Instant::ZERO, next_report: Instant::ZERO };
    event_loop.run(watch).map_err(ServeError::Device)
}

/// Creates the TUN device and routes the stack's address to it.
fn tun(settings: &Settings) -> io::Result<Tun> {
    let name = &settings.device;
    let explain = |error: io::Error| match error.kind() {
        io::ErrorKind::PermissionDenied => io::Error::new(error.kind(), PERMISSION_HINT),
        io::ErrorKind::ResourceBusy => io::Error::new(
            error.kind(),
            format!("--device {name}: another process uses a device of this name, such as another `earlybird serve`"),
        ),
        kind => io::Error::new(kind, format!("--device {name}: {error}")),
    };
    let device = Tun::new(name, MTU).map_err(explain)?;
    // The kernel must route the stack's address to the device before the first SYN-ACK.
    Tun::add_route(name, settings.address).map_err(explain)?;
    Ok(device)
}

/// Raises the limit of open files to what all connections need.
fn raise_open_files(connections: usize) -> Result<(), ServeError> {
    let needed = connections as u64 + OWN_DESCRIPTORS;
    let limit = getrlimit(Resource::Nofile);
    let is_enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= needed);
    if is_enough(limit.current) {
        return Ok(());
    }
    let raised = Rlimit { current: Some(needed), maximum: limit.maximum };
    match limit.maximum {
        Some(most) if most < needed => Err(ServeError::OpenFiles { limit: most, needed }),
        _ => setrlimit(Resource::Nofile, raised).map_err(|error| ServeError::Device(error.into())),
    }
}

struct EventLoop<D, C> {
    stack: Stack<D, C>,
    proxy: Proxy,
    ready: Vec<epoll::Event>,
    next_poll: Instant,
    next_report: Instant,
}

impl<D: Device, C: Clock> EventLoop<D, C> {
    fn run(mut self, watch: &mut dyn FnMut(Option<&Report>) -> Command) -> io::Result<Report> {
        loop {
            self.turn()?;
            match self.poll_command(watch) {
                Some(Command::Drain) => self.proxy.drain(&mut self.stack),
                Some(Command::Stop) => break,
                Some(Command::Continue) | None => {}
            }
            self.stack.transmit()?;
            if self.proxy.is_drained() {
                break;
            }
            self.wait()?;
        }
        self.end()
    }

    /// Receives packets, and moves the bytes of the connections that are ready.
    fn turn(&mut self) -> io::Result<()> {
        self.stack.receive()?;
        while let Some((id, event)) = self.stack.poll_event() {
            self.proxy.on_event(&mut self.stack, id, event);
        }
        self.proxy.on_ready(&mut self.stack, &mut self.ready)
    }

    /// Calls `watch` when it is due, with a report once a second.
    fn poll_command(&mut self, watch: &mut dyn FnMut(Option<&Report>) -> Command) -> Option<Command> {
        let now = self.stack.now();
        if now < self.next_poll {
            return None;
        }
        self.next_poll = now + POLL_INTERVAL;
        if now < self.next_report {
            return Some(watch(None));
        }
        self.next_report = now + REPORT_INTERVAL;
        self.proxy.expire(&mut self.stack);
        Some(watch(Some(&self.proxy.report(&self.stack))))
    }

    /// Blocks until a packet arrives, a socket is ready, or a timer is due.
    fn wait(&mut self) -> io::Result<()> {
        let until = self.stack.deadline().map_or(self.next_poll, |deadline| deadline.min(self.next_poll));
        // A deadline in the past gives a span of zero: subtraction of instants saturates.
        let nanos = (until - self.stack.clock().now()).as_nanos();
        let span =
            Timespec { tv_sec: (nanos / 1_000_000_000).cast_signed(), tv_nsec: (nanos % 1_000_000_000).cast_signed() };
        // Writability matters only while packets wait for the device; polling for it otherwise would spin.
        let arrival = if self.stack.is_congested() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let Some(device) = self.stack.device().descriptor() else { return Ok(()) };
        // epoll's own timeout has a resolution of 1 ms; its descriptor can be polled like any other.
        let servers = PollFd::new(self.proxy.descriptor(), PollFlags::IN);
        match poll(&mut [PollFd::from_borrowed_fd(device, arrival), servers], Some(&span)) {
            // A signal ends the wait early; the loop just runs another turn.
            Err(Errno::INTR) | Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Resets what is still open, and returns the last report.
    fn end(mut self) -> io::Result<Report> {
        self.proxy.abort_all(&mut self.stack);
        for _ in 0..LAST_BATCHES {
            if !self.stack.transmit()? {
                break;
            }
        }
        Ok(self.proxy.report(&self.stack))
    }
}
