//! Ordinary programs over the kernel's TCP against a stack: curl, Python, a thousand sockets at once.

use crate::bench::{Family, network, settings};
use crate::{pattern, unless_refused};
use earlybird_live::device::{Path, Tun};
use earlybird_live::{Application, Driver, Event, Id, MonotonicClock, Stack};
use earlybird_tcp::{Config, Ending, ListenConfig};
use earlybird_units::Instant;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::process::{Command, Stdio};
use std::thread;

pub(crate) type Host = Stack<Tun, MonotonicClock>;

pub(crate) const HTTP: u16 = 80;

/// An HTTP server with one page, which stops after some requests.
struct Pages {
    body: Vec<u8>,
    requests: usize,
    /// The request, and the number of bytes of the reply that were written.
    open: HashMap<Id, (Vec<u8>, usize)>,
    endings: Vec<Ending>,
}

impl Pages {
    fn new(body: Vec<u8>, requests: usize) -> Self {
        Self { body, requests, open: HashMap::new(), endings: Vec::new() }
    }

    fn read(&mut self, stack: &mut Host, id: Id) {
        let mut buffer = [0; 2000];
        let (asked, _) = self.open.entry(id).or_default();
        while let count @ 1.. = stack.read(id, &mut buffer).unwrap() {
            asked.extend(&buffer[..count]);
        }
        self.answer(stack, id);
    }

    fn answer(&mut self, stack: &mut Host, id: Id) {
        let (asked, written) = self.open.entry(id).or_default();
        if !asked.ends_with(b"\r\n\r\n") {
            return;
        }
        let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", self.body.len());
        let whole = [head.as_bytes(), &self.body].concat();
        if *written < whole.len() {
            *written += stack.write(id, &whole[*written..]).unwrap();
            if *written == whole.len() {
                stack.shutdown(id).unwrap();
            }
        }
    }
}

impl Application<Tun, MonotonicClock> for Pages {
    fn on_event(&mut self, stack: &mut Host, id: Id, event: Event) {
        match event {
            Event::Incoming(port) => assert!(stack.accept(port).is_some()),
            Event::Readable => self.read(stack, id),
            Event::Writable => self.answer(stack, id),
            Event::Closed(ending) => {
                self.endings.push(ending);
                stack.close(id).unwrap();
            }
            _ => {}
        }
    }

    fn on_turn(&mut self, _: &mut Host) -> ControlFlow<(), Option<Instant>> {
        if self.endings.len() >= self.requests { ControlFlow::Break(()) } else { ControlFlow::Continue(None) }
    }
}

pub(crate) fn stack() -> Option<Host> {
    Some(over(unless_refused(network(Tun::new))?))
}

fn over(device: Tun) -> Host {
    Stack::new(device, MonotonicClock::default(), settings()).unwrap()
}

/// Fetches a page with a program over both IP versions, and checks its output.
fn fetched_by(program: impl Fn(String) -> Command) {
    if let Some(stack) = stack() {
        fetched_over(stack, program);
    }
}

fn fetched_over(mut stack: Host, program: impl Fn(String) -> Command) {
    stack.listen(HTTP, &Config::linux(), ListenConfig::default()).unwrap();
    let body = pattern(5_000_000);
    let programs = [Family::V4, Family::V6].map(|family| {
        let host = if family == Family::V4 { family.ours().to_string() } else { format!("[{}]", family.ours()) };
        program(format!("http://{host}/")).stdout(Stdio::piped()).spawn().unwrap()
    });
    let readers = programs.map(|program| thread::spawn(move || program.wait_with_output().unwrap()));
    let mut pages = Pages::new(body.clone(), 2);
    Driver::new(stack).unwrap().run(&mut pages).unwrap();
    for reader in readers {
        let output = reader.join().unwrap();
        assert!(output.status.success() && output.stdout == body, "{} bytes", output.stdout.len());
    }
    assert_eq!(pages.endings, [Ending::InOrder; 2]);
}

pub(crate) fn is_here(program: &str) -> bool {
    let is_here = Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !is_here {
        eprintln!("skipped: {program} is not installed");
    }
    is_here
}

fn curl(url: &str) -> Command {
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--globoff", "--noproxy", "*", url]);
    curl
}

#[test]
fn curl_fetches_a_page() {
    if is_here("curl") {
        fetched_by(|url| curl(&url));
    }
}

/// A device that another process created, with and without segmentation offload.
#[test]
fn a_device_can_be_passed_on() {
    for make in [Tun::new, Tun::without_offload] {
        let Some(made) = unless_refused(network(make)).filter(|_| is_here("curl")) else { return };
        let device = Tun::from_descriptor(made.into_descriptor(), 1500).unwrap();
        fetched_over(over(device), |url| curl(&url));
    }
    let nothing = std::fs::File::open("/dev/null").unwrap();
    assert!(Tun::from_descriptor(nothing.into(), 1500).is_err());
}

#[test]
fn python_fetches_a_page() {
    const SCRIPT: &str = "import shutil, sys, urllib.request as request\n\
                          opener = request.build_opener(request.ProxyHandler({}))\n\
                          shutil.copyfileobj(opener.open(sys.argv[1]), sys.stdout.buffer)";
    if is_here("python3") {
        fetched_by(|url| {
            let mut python = Command::new("python3");
            python.args(["-c", SCRIPT, &url]);
            python
        });
    }
}

/// Writes to each connection, and reads the reply to its end.
struct Callers {
    connections: usize,
    got: HashMap<Id, Vec<u8>>,
    endings: Vec<Ending>,
}

impl Application<Tun, MonotonicClock> for Callers {
    fn on_event(&mut self, stack: &mut Host, id: Id, event: Event) {
        let mut buffer = [0; 4000];
        match event {
            Event::Established => {
                assert_eq!(stack.write(id, b"hello"), Ok(5));
                stack.shutdown(id).unwrap();
            }
            Event::Readable => {
                while let count @ 1.. = stack.read(id, &mut buffer).unwrap() {
                    self.got.entry(id).or_default().extend(&buffer[..count]);
                }
            }
            Event::Closed(ending) => {
                self.endings.push(ending);
                stack.close(id).unwrap();
            }
            _ => {}
        }
    }

    fn on_turn(&mut self, _: &mut Host) -> ControlFlow<(), Option<Instant>> {
        if self.endings.len() >= self.connections { ControlFlow::Break(()) } else { ControlFlow::Continue(None) }
    }
}

/// All are open at once: the kernel's server replies only after all have connected.
#[test]
fn a_thousand_connections_at_once() {
    const CONNECTIONS: usize = 1000;
    let Some(mut stack) = stack() else { return };
    let text = pattern(20_000);
    let listener = TcpListener::bind((Family::V4.kernel(), HTTP)).unwrap();
    // The standard library's backlog is 128: SYNs above it are retried.
    let answer = text.clone();
    let server = thread::spawn(move || {
        let mut peers: Vec<_> = listener.incoming().take(CONNECTIONS).map(Result::unwrap).collect();
        for peer in &mut peers {
            let mut question = Vec::new();
            peer.read_to_end(&mut question).unwrap();
            assert_eq!(question, b"hello");
            peer.write_all(&answer).unwrap();
        }
    });
    for _ in 0..CONNECTIONS {
        stack.connect(&Config::linux(), Path::to(Family::V4.kernel()), HTTP).unwrap();
    }
    let mut callers = Callers { connections: CONNECTIONS, got: HashMap::new(), endings: Vec::new() };
    Driver::new(stack).unwrap().run(&mut callers).unwrap();
    server.join().unwrap();
    assert_eq!(callers.endings, vec![Ending::InOrder; CONNECTIONS]);
    assert!(callers.got.len() == CONNECTIONS && callers.got.values().all(|got| *got == text));
}

/// As an unprivileged user.
#[test]
fn missing_privileges_are_explained() {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    let none = CapabilitySet::empty();
    // Capabilities are per thread: dropping them does not affect other tests.
    let refused = thread::spawn(move || {
        let mut own = capabilities(None).unwrap();
        (own.effective, own.permitted, own.inheritable) = (none, none, none);
        set_capabilities(None, own).unwrap();
        Tun::new("nobody", 1500).map(|_| ())
    });
    let error = refused.join().unwrap().unwrap_err();
    if error.kind() == std::io::ErrorKind::NotFound {
        eprintln!("skipped: there is no /dev/net/tun here");
        return;
    }
    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("use UDP"), "{error}");
    assert_eq!(error.to_string().lines().count(), 1);
}
