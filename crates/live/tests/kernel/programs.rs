//! Programs that know nothing of us, over the kernel's TCP: curl, Python, a thousand sockets at once.

use crate::bench::{Family, network, settings};
use crate::{pattern, unless_refused};
use earlybird_live::device::{Path, Tun};
use earlybird_live::{Application, Driver, Event, Id, Monotonic, Stack};
use earlybird_tcp::{Config, Ending, ListenConfig};
use earlybird_units::Instant;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::process::{Command, Stdio};
use std::thread;

pub(crate) type Host = Stack<Tun, Monotonic>;

pub(crate) const HTTP: u16 = 80;

/// A web server with one page, for so many requests.
struct Pages {
    body: Vec<u8>,
    requests: usize,
    /// What was asked, and how much of the answer was written.
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

impl Application<Tun, Monotonic> for Pages {
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
    Stack::new(device, Monotonic::default(), settings()).unwrap()
}

/// Lets a program fetch a page over both versions of IP, and compares what it writes.
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
fn curl_fetches_a_page_whole() {
    if is_here("curl") {
        fetched_by(|url| curl(&url));
    }
}

/// A device that was made elsewhere and handed over, with and without segmentation offload.
#[test]
fn a_device_that_was_handed_over_is_as_good() {
    for make in [Tun::new, Tun::plain] {
        let Some(made) = unless_refused(network(make)).filter(|_| is_here("curl")) else { return };
        let device = Tun::from_descriptor(made.into_descriptor(), 1500).unwrap();
        fetched_over(over(device), |url| curl(&url));
    }
    let nothing = std::fs::File::open("/dev/null").unwrap();
    assert!(Tun::from_descriptor(nothing.into(), 1500).is_err());
}

#[test]
fn python_fetches_a_page_whole() {
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

/// Says something on each connection, and reads the answer to its end.
struct Callers {
    connections: usize,
    got: HashMap<Id, Vec<u8>>,
    endings: Vec<Ending>,
}

impl Application<Tun, Monotonic> for Callers {
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

/// All are open at once: the kernel's server answers none before all have come.
#[test]
fn a_thousand_connections_at_once() {
    const CONNECTIONS: usize = 1000;
    let Some(mut stack) = stack() else { return };
    let text = pattern(20_000);
    let listener = TcpListener::bind((Family::V4.kernel(), HTTP)).unwrap();
    // The standard library's backlog is 128: who comes too early tries again.
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

/// As an ordinary user, in a process of its own.
#[test]
fn who_may_not_make_a_device_is_told_what_to_do() {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    let none = CapabilitySet::empty();
    // A thread has its own: it goes without them, and no other notices.
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
    assert!(error.to_string().contains("take UDP"), "{error}");
    assert_eq!(error.to_string().lines().count(), 1);
}
