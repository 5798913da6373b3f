//! Where a stream comes from and where it goes, as `srt-live-transmit` writes it.

use earlybird_units::Duration;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use url::Url;

/// One end of a relay.
#[derive(Clone, Debug, PartialEq)]
pub enum Address {
    /// Datagrams of UDP: to this socket, or at this one.
    Udp(SocketAddr),
    /// The same, each with a header of RTP.
    Rtp(SocketAddr),
    /// A connection of the system's TCP, to this socket or, for `tcp://:port`, at this port.
    Tcp(SocketAddr),
    /// A file; `-` is the standard input or output.
    File(PathBuf),
    /// A server of HTTP at this socket, from which players fetch the stream.
    Http(SocketAddr),
    /// Another relay.
    Relay(RelayAddress),
}

/// Where another relay is, and how to speak with it.
#[derive(Clone, Debug, PartialEq)]
pub struct RelayAddress {
    /// The socket of the other relay; or ours, at which it is waited for.
    pub socket: SocketAddr,
    /// Whether it is waited for.
    pub waits: bool,
    /// What carries the segments.
    pub via: Via,
    /// Time from the source to the play-out, beside that of the way.
    pub latency: Duration,
    /// The transport, by its name in scenarios.
    pub transport: String,
    /// The name of the stream.
    pub stream: String,
    /// How long a connection may take to be made.
    pub connect_timeout: Duration,
    /// How long the peer may be silent.
    pub idle_timeout: Duration,
}

/// What carries segments of TCP between relays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// Datagrams of UDP.
    Udp,
    /// IP itself: packets of an address of our own, which this machine's kernel routes.
    Tun {
        /// The name of the TUN device that is made.
        device: String,
        /// Our address.
        local: IpAddr,
    },
}

/// An address that cannot be used, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressError(String);

impl fmt::Display for AddressError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for AddressError {}

/// The schemes that there are.
const SCHEMES: [&str; 6] = ["udp", "rtp", "tcp", "http", "file", "eb"];
/// The same as they are written.
const WRITTEN: &str = "udp://, rtp://, tcp://, http://, file: and eb://";
/// SRT's default for its latency (`SRTO_LATENCY`).
pub(crate) const LATENCY: Duration = Duration::from_millis(120);
/// SRT's defaults (`SRTO_CONNTIMEO`, `SRTO_PEERIDLETIMEO`).
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest latency: a minute.
const LONGEST: Duration = Duration::from_secs(60);

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// If it is none; the error names what is wrong with it and what is allowed.
    pub fn read(text: &str) -> Result<Self, AddressError> {
        if text == "-" || text == "file://con" {
            return Ok(Self::File("-".into()));
        }
        if let Some(path) = text.strip_prefix("file:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.is_empty() { Err(problem(text, "names no file")) } else { Ok(Self::File(path.into())) };
        }
        // `udp://:1234` names no host, which addresses of the web must.
        let url = Url::parse(&text.replacen("://:", "://*:", 1))
            .map_err(|error| problem(text, &format!("is no address ({error}); allowed: {WRITTEN}")))?;
        let options = Options { text, url: &url };
        match url.scheme() {
            "udp" => Ok(Self::Udp(options.plain_socket()?)),
            "rtp" => Ok(Self::Rtp(options.plain_socket()?)),
            "tcp" => Ok(Self::Tcp(options.plain_socket()?)),
            "http" => Ok(Self::Http(options.plain_socket()?)),
            "eb" => options.relay().map(Self::Relay),
            other => Err(problem(text, &format!("has the {}; allowed: {WRITTEN}", unknown("scheme", other, &SCHEMES)))),
        }
    }
}

fn problem(text: &str, what: &str) -> AddressError {
    AddressError(format!("`{text}` {what}."))
}

/// What stands in an address behind its scheme.
struct Options<'a> {
    text: &'a str,
    url: &'a Url,
}

/// The options of other relays.
const OPTIONS: [&str; 9] =
    ["latency", "transport", "mode", "streamid", "via", "device", "local", "conntimeo", "peeridletimeo"];
/// Those that go with TUN alone.
const OF_TUN: [&str; 2] = ["device", "local"];
/// The name of the TUN device, if nobody gives another.
const DEVICE: &str = "earlybird";

impl Options<'_> {
    /// Returns the socket, which has no options beside it.
    fn plain_socket(&self) -> Result<SocketAddr, AddressError> {
        if let Some((key, _)) = self.url.query_pairs().next() {
            return Err(problem(self.text, &format!("has the option `{key}`, but only eb:// has options")));
        }
        self.socket()
    }

    fn socket(&self) -> Result<SocketAddr, AddressError> {
        // Those of the web have ports that may be left out; here there is none to choose.
        let port = self.url.port_or_known_default();
        let port = port.filter(|port| *port > 0).ok_or_else(|| problem(self.text, "has no port"))?;
        if self.has_no_host() {
            return Ok(SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port));
        }
        let host = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let found = (host, port)
            .to_socket_addrs()
            .map_err(|error| problem(self.text, &format!("names the host `{host}`, which cannot be found: {error}")))?;
        let mut all: Vec<_> = found.collect();
        // Of a host with both versions the older one, as it is there wherever the newer is.
        all.sort_by_key(SocketAddr::is_ipv6);
        all.first().copied().ok_or_else(|| problem(self.text, "names a host without an address"))
    }

    fn has_no_host(&self) -> bool {
        matches!(self.url.host_str(), None | Some("*"))
    }

    /// Returns whether nobody can be called there: the address is any of this host's.
    fn is_of_nobody(&self) -> bool {
        self.has_no_host() || matches!(self.url.host_str(), Some("0.0.0.0" | "[::]"))
    }

    fn relay(&self) -> Result<RelayAddress, AddressError> {
        self.check_options()?;
        let waits = match self.option("mode").as_deref() {
            None => self.is_of_nobody(),
            Some("caller") => false,
            Some("listener") => true,
            Some(other) => return Err(problem(self.text, &format!("has mode={other}; allowed: caller, listener"))),
        };
        if !waits && self.is_of_nobody() {
            return Err(problem(self.text, "calls nobody: a caller names a host"));
        }
        let socket = self.socket()?;
        Ok(RelayAddress {
            socket,
            waits,
            via: self.via(socket, waits)?,
            latency: self.time("latency", LATENCY, LONGEST)?,
            transport: self.option("transport").unwrap_or_else(|| "earlybird-rt".into()),
            stream: self.option("streamid").unwrap_or_default(),
            connect_timeout: self.time("conntimeo", CONNECT_TIMEOUT, LONGEST)?,
            idle_timeout: self.time("peeridletimeo", IDLE_TIMEOUT, LONGEST)?,
        })
    }

    fn check_options(&self) -> Result<(), AddressError> {
        let mut left = OPTIONS.to_vec();
        for (key, _) in self.url.query_pairs() {
            if !OPTIONS.contains(&&*key) {
                let unknown = unknown("option", &key, &OPTIONS);
                return Err(problem(self.text, &format!("has the {unknown}; allowed: {}", OPTIONS.join(", "))));
            }
            let place = left.iter().position(|option| *option == key);
            let place = place.ok_or_else(|| problem(self.text, &format!("has the option `{key}` twice")))?;
            left.swap_remove(place);
        }
        match self.url.path() {
            "" | "/" => Ok(()),
            path => {
                Err(problem(self.text, &format!("has the path `{path}`; a stream's name is given by `?streamid=`")))
            }
        }
    }

    fn via(&self, socket: SocketAddr, waits: bool) -> Result<Via, AddressError> {
        match self.option("via").as_deref() {
            None | Some("udp") => match OF_TUN.into_iter().find(|name| self.option(name).is_some()) {
                Some(name) => {
                    Err(problem(self.text, &format!("has the option `{name}`, which goes with via=tun alone")))
                }
                None => Ok(Via::Udp),
            },
            Some("tun") => {
                let device = self.option("device").unwrap_or_else(|| DEVICE.to_owned());
                Ok(Via::Tun { device, local: self.local(socket, waits)? })
            }
            Some(via) => Err(problem(self.text, &format!("has via={via}; allowed: udp, tun"))),
        }
    }

    /// Returns the address that a stack of our own has: where it waits, the one in front of the port.
    fn local(&self, socket: SocketAddr, waits: bool) -> Result<IpAddr, AddressError> {
        let named = self.option("local").map(|text| {
            let local = text.parse::<IpAddr>();
            local.map_err(|_| problem(self.text, &format!("has local={text}; allowed: an address of IP")))
        });
        match named.transpose()? {
            None if waits && !socket.ip().is_unspecified() => Ok(socket.ip()),
            Some(local) if waits && local != socket.ip() && !socket.ip().is_unspecified() => Err(problem(
                self.text,
                "has two addresses of its own: local says another one than stands before the port",
            )),
            Some(local) if !waits && local.is_ipv4() != socket.is_ipv4() => Err(problem(
                self.text,
                &format!("cannot be reached from local={local}: both must be of one version of IP"),
            )),
            Some(local) if !local.is_unspecified() => Ok(local),
            _ => Err(problem(self.text, "needs an address of its own beside this machine's: local=10.78.0.2, say")),
        }
    }

    fn option(&self, name: &str) -> Option<String> {
        let mut pairs = self.url.query_pairs();
        pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }

    /// Reads a time: in milliseconds, as SRT has them, or with a unit.
    fn time(&self, name: &str, usual: Duration, most: Duration) -> Result<Duration, AddressError> {
        let Some(text) = self.option(name) else { return Ok(usual) };
        let with_unit = if text.bytes().all(|byte| byte.is_ascii_digit()) { format!("{text}ms") } else { text.clone() };
        let time = with_unit.parse::<earlybird_scenario::Time>().map(earlybird_scenario::Time::duration);
        time.ok().filter(|time| (Duration::from_millis(1)..=most).contains(time)).ok_or_else(|| {
            let most = most.as_secs_f64();
            problem(self.text, &format!("has {name}={text}; allowed: 1ms to {most}s, such as 120 or 120ms"))
        })
    }
}

fn unknown(what: &str, name: &str, known: &[&'static str]) -> String {
    let nearest = earlybird_scenario::nearest(name, known.iter().copied());
    let hint = nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
    format!("unknown {what} `{name}`{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relay(text: &str) -> RelayAddress {
        match Address::read(text) {
            Ok(Address::Relay(relay)) => relay,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn addresses_are_those_of_srt_live_transmit() {
        let any = |port| SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port);
        assert_eq!(Address::read("udp://:1234"), Ok(Address::Udp(any(1234))));
        assert_eq!(Address::read("udp://127.0.0.1:5000"), Ok(Address::Udp(([127, 0, 0, 1], 5000).into())));
        assert_eq!(Address::read("rtp://[::1]:5000"), Ok(Address::Rtp((Ipv6Addr::LOCALHOST, 5000).into())));
        assert_eq!(Address::read("file://con"), Ok(Address::File("-".into())));
        assert_eq!(Address::read("file:clip.ts"), Ok(Address::File("clip.ts".into())));
        assert_eq!(Address::read("http://:8080/"), Ok(Address::Http(any(8080))));
        let caller = relay("eb://127.0.0.1:4201?latency=200&transport=cubic&streamid=one");
        assert!(!caller.waits && caller.latency == Duration::from_millis(200));
        assert_eq!((&*caller.transport, &*caller.stream), ("cubic", "one"));
        let listener = relay("eb://:4201");
        assert!(listener.waits && listener.latency == LATENCY && listener.transport == "earlybird-rt");
        assert!(relay("eb://127.0.0.1:4201?mode=listener&latency=1.5s").waits);
        let ours = relay("eb://0.0.0.0:4201");
        assert!(ours.waits && ours.socket == ([0, 0, 0, 0], 4201).into());
        let tun = |device: &str| Via::Tun { device: device.to_owned(), local: [10, 78, 0, 2].into() };
        assert_eq!(caller.via, Via::Udp);
        assert_eq!(relay("eb://10.79.0.2:4201?via=tun&local=10.78.0.2&device=eb7").via, tun("eb7"));
        for text in ["eb://10.78.0.2:4201?mode=listener&via=tun", "eb://:4201?via=tun&local=10.78.0.2"] {
            assert_eq!(relay(text).via, tun("earlybird"), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_with_an_address_is_told() {
        for (text, words) in [
            ("nonsense", "is no address"),
            ("srt://host:1", "unknown scheme `srt`"),
            ("upd://:1234", "unknown scheme `upd` (did you mean `udp`?)"),
            ("udp://127.0.0.1", "has no port"),
            ("udp://127.0.0.1:80?latency=3", "only eb:// has options"),
            ("eb://127.0.0.1:4201?latncy=3", "did you mean `latency`?"),
            ("eb://127.0.0.1:4201?latency=3&latency=4", "has the option `latency` twice"),
            ("eb://127.0.0.1:4201/stream", "has the path `/stream`"),
            ("eb://127.0.0.1:4201?latency=0", "has latency=0; allowed: 1ms to 60s"),
            ("eb://:4201?mode=caller", "calls nobody"),
            ("eb://:4201?mode=rendezvous", "has mode=rendezvous; allowed: caller, listener"),
            ("eb://:4201?via=sctp", "has via=sctp; allowed: udp, tun"),
            ("eb://:4201?device=eb7", "the option `device`, which goes with via=tun alone"),
            ("eb://127.0.0.1:4201?via=tun", "needs an address of its own"),
            ("eb://:4201?via=tun", "needs an address of its own"),
            ("eb://127.0.0.1:4201?via=tun&local=here", "has local=here; allowed: an address of IP"),
            ("eb://127.0.0.1:4201?via=tun&local=fd78::2", "both must be of one version of IP"),
            ("eb://10.78.0.2:4201?mode=listener&via=tun&local=10.78.0.3", "two addresses of its own"),
            ("file:", "names no file"),
        ] {
            let error = Address::read(text).expect_err(text).to_string();
            assert!(error.contains(words) && error.contains(text), "{error}");
        }
    }
}
