//! Addresses of sources, sinks and relays, in the syntax of `srt-live-transmit`.

mod datagrams;
mod rtmp;
mod srt;

use crate::secret::{Secret, redacted};
use earlybird_units::Duration;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use url::Url;

pub use datagrams::DatagramAddress;
pub use rtmp::RtmpAddress;
pub use srt::SrtAddress;

/// An end of a relay.
#[derive(Clone, Debug, PartialEq)]
pub enum Address {
    /// UDP datagrams: sent to this socket, or received at it.
    Udp(DatagramAddress),
    /// UDP datagrams with RTP headers.
    Rtp(DatagramAddress),
    /// A TCP connection of the kernel: to this socket, or for `tcp://:port` at this port.
    Tcp(SocketAddr),
    /// A file; `-` is the standard input or output.
    File(PathBuf),
    /// An HTTP server at this socket, from which players fetch the stream.
    Http(SocketAddr),
    /// A listener for a publisher of RTMP.
    Rtmp(RtmpAddress),
    /// A caller or listener of SRT.
    Srt(SrtAddress),
    /// Another relay.
    Relay(RelayAddress),
}

/// The address and options of another relay.
#[derive(Clone, Debug, PartialEq)]
pub struct RelayAddress {
    /// The socket of the other relay; for a listener, the local one.
    pub socket: SocketAddr,
    /// Whether this relay listens for the other one.
    pub is_listener: bool,
    /// The encapsulation of segments.
    pub via: Via,
    /// The secret that both relays share; `None` if nothing is encrypted.
    pub secret: Option<Secret>,
    /// Time from the source to playout, in addition to the transit time of the path.
    pub latency: Duration,
    /// The name of the transport, as in scenarios.
    pub transport: String,
    /// The name of the stream.
    pub stream: String,
    /// The timeout of the handshake.
    pub connect_timeout: Duration,
    /// The timeout without data from the peer.
    pub idle_timeout: Duration,
    /// The most relays that a listener serves at once.
    pub max_peers: usize,
}

/// The encapsulation of TCP segments between relays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// UDP datagrams.
    Udp,
    /// IP packets of an address of its own, which this machine's kernel routes to a TUN device.
    Tun {
        /// The name of the TUN device.
        device: String,
        /// The address of this relay.
        local: IpAddr,
    },
}

/// An invalid address, explained in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressError(String);

impl fmt::Display for AddressError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for AddressError {}

/// The schemes.
const SCHEMES: [&str; 8] = ["udp", "rtp", "tcp", "http", "file", "srt", "rtmp", "eb"];
/// The schemes for error messages.
const SCHEME_LIST: &str = "udp://, rtp://, tcp://, http://, file:, srt://, rtmp:// and eb://";
/// SRT's default for its latency (`SRTO_LATENCY`).
pub(crate) const LATENCY: Duration = Duration::from_millis(120);
/// SRT's defaults (`SRTO_CONNTIMEO`, `SRTO_PEERIDLETIMEO`).
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest latency and timeout, from an address or from a peer.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);

impl Address {
    /// Parses an address.
    ///
    /// # Errors
    ///
    /// If the address is invalid; the error names the problem and what is allowed.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        Self::parse_with(text, std::env::var(PASSPHRASE_VARIABLE).ok().filter(|passphrase| !passphrase.is_empty()))
    }

    /// Parses an address; `passphrase` is that of addresses without an option for it.
    fn parse_with(text: &str, passphrase: Option<String>) -> Result<Self, AddressError> {
        if text == "-" || text == "file://con" {
            return Ok(Self::File("-".into()));
        }
        if let Some(path) = text.strip_prefix("file:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.is_empty() { Err(error(text, "names no file")) } else { Ok(Self::File(path.into())) };
        }
        // The `url` crate requires a host, which `udp://:1234` does not have.
        // VLC and FFmpeg write `udp://@:1234` too.
        let url = Url::parse(&text.replacen("://@", "://", 1).replacen("://:", "://*:", 1))
            .map_err(|cause| error(text, &format!("is no address ({cause}); allowed: {SCHEME_LIST}")))?;
        let options = Options { text, url: &url };
        match url.scheme() {
            "udp" => options.datagrams().map(Self::Udp),
            "rtp" => options.datagrams().map(Self::Rtp),
            "tcp" => Ok(Self::Tcp(options.plain_socket()?)),
            "http" => Ok(Self::Http(options.plain_socket()?)),
            "rtmp" => options.rtmp().map(Self::Rtmp),
            "srt" => options.srt().map(Self::Srt),
            "eb" => options.relay(passphrase).map(Self::Relay),
            other => {
                Err(error(text, &format!("has the {}; allowed: {SCHEME_LIST}", unknown("scheme", other, &SCHEMES))))
            }
        }
    }
}

fn error(text: &str, what: &str) -> AddressError {
    AddressError(format!("`{}` {what}.", redacted(text)))
}

/// The host, port and options of an address.
struct Options<'a> {
    text: &'a str,
    url: &'a Url,
}

/// The options of eb://.
const OPTIONS: [&str; 14] = [
    "latency",
    "transport",
    "mode",
    "streamid",
    "passphrase",
    "keyfile",
    "keys",
    "insecure",
    "via",
    "device",
    "local",
    "conntimeo",
    "peeridletimeo",
    "maxpeers",
];
/// The environment variable with the passphrase of addresses without an option for it.
const PASSPHRASE_VARIABLE: &str = "EARLYBIRD_PASSPHRASE";
/// The options that need via=tun.
const TUN_OPTIONS: [&str; 2] = ["device", "local"];
/// The default of `maxpeers`: each peer takes the rate of the stream once.
const MAX_PEERS: usize = 64;
/// The largest value of `maxpeers`: half the connections of a stack, so that others can be refused with a reason.
const MOST_PEERS: usize = 2048;
/// The default name of the TUN device.
const DEFAULT_DEVICE: &str = "earlybird";

impl Options<'_> {
    /// Returns the socket of an address that must not have options.
    fn plain_socket(&self) -> Result<SocketAddr, AddressError> {
        self.check_no_options()?;
        self.socket()
    }

    fn check_no_options(&self) -> Result<(), AddressError> {
        self.url.query_pairs().next().map_or(Ok(()), |(key, _)| {
            Err(error(self.text, &format!("has the option `{key}`, but only eb:// and srt:// have options")))
        })
    }

    fn socket(&self) -> Result<SocketAddr, AddressError> {
        // http:// has a default port, but a server must not use port 80 by accident; rtmp:// has that of encoders.
        let usual = (self.url.scheme() == "rtmp").then_some(rtmp::PORT);
        let port = self.url.port_or_known_default().or(usual);
        let port = port.filter(|port| *port > 0).ok_or_else(|| error(self.text, "has no port"))?;
        if self.has_no_host() {
            return Ok(SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port));
        }
        let host = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let found = (host, port).to_socket_addrs().map_err(|cause| {
            error(self.text, &format!("names the host `{host}`, which cannot be resolved: {cause}"))
        })?;
        let mut all: Vec<_> = found.collect();
        // Prefer IPv4, which is available wherever IPv6 is.
        all.sort_by_key(SocketAddr::is_ipv6);
        all.first().copied().ok_or_else(|| error(self.text, "names a host without an address"))
    }

    fn has_no_host(&self) -> bool {
        matches!(self.url.host_str(), None | Some("*"))
    }

    /// Returns whether the address is a wildcard, to which no connection can be opened.
    fn is_wildcard(&self) -> bool {
        self.has_no_host() || matches!(self.url.host_str(), Some("0.0.0.0" | "[::]"))
    }

    fn relay(&self, passphrase: Option<String>) -> Result<RelayAddress, AddressError> {
        self.check_options(&OPTIONS)?;
        let is_listener = self.is_listener()?;
        let socket = self.socket()?;
        let via = self.via(socket, is_listener)?;
        let secret = self.secret(passphrase, is_listener)?;
        self.check_secrecy(secret.as_ref(), &via, is_listener && !socket.ip().is_loopback())?;
        Ok(RelayAddress {
            socket,
            is_listener,
            via,
            secret,
            latency: self.time("latency", LATENCY, LONGEST)?,
            transport: self.option("transport").unwrap_or_else(|| "earlybird-rt".into()),
            stream: self.option("streamid").unwrap_or_default(),
            connect_timeout: self.time("conntimeo", CONNECT_TIMEOUT, LONGEST)?,
            idle_timeout: self.time("peeridletimeo", IDLE_TIMEOUT, LONGEST)?,
            max_peers: self.max_peers(is_listener)?,
        })
    }

    fn is_listener(&self) -> Result<bool, AddressError> {
        match self.option("mode").as_deref() {
            None => Ok(self.is_wildcard()),
            Some("listener") => Ok(true),
            Some("caller") if self.is_wildcard() => Err(error(self.text, "names no host: a caller needs one")),
            Some("caller") => Ok(false),
            Some(other) => Err(error(self.text, &format!("has mode={other}; allowed: caller, listener"))),
        }
    }

    fn check_options(&self, known: &[&'static str]) -> Result<(), AddressError> {
        let mut left = known.to_vec();
        for (key, _) in self.url.query_pairs() {
            if !known.contains(&&*key) {
                let unknown = unknown("option", &key, known);
                return Err(error(self.text, &format!("has the {unknown}; allowed: {}", known.join(", "))));
            }
            // Repeated options are errors: which of two values counts would be arbitrary.
            let place = left.iter().position(|option| *option == key);
            let place = place.ok_or_else(|| error(self.text, &format!("has the option `{key}` twice")))?;
            left.swap_remove(place);
        }
        match self.url.path() {
            "" | "/" => Ok(()),
            path => {
                Err(error(self.text, &format!("has the path `{path}`; use `?streamid=` for the name of the stream")))
            }
        }
    }

    /// Returns the secret of the options, or else the passphrase of the environment.
    fn secret(&self, passphrase: Option<String>, is_listener: bool) -> Result<Option<Secret>, AddressError> {
        if self.url.fragment().is_some() {
            return Err(error(self.text, "has a `#`, which ends an address: write %23"));
        }
        let own = Secret::passphrase_in(self.url.query().unwrap_or_default()).map(Secret::Passphrase);
        let file = self.option("keyfile").map(|path| Secret::File(path.into()));
        let callers = self.option("keys").map(|path| Secret::Callers(path.into()));
        if callers.is_some() && !is_listener {
            return Err(error(self.text, "has keys=, which only a listener has: a caller has passphrase= or keyfile="));
        }
        let named: Vec<_> = [("passphrase", own), ("keyfile", file), ("keys", callers)].into();
        let named: Vec<_> = named.into_iter().filter_map(|(name, secret)| Some((name, secret?))).collect();
        let secret = match (&*named, self.is_insecure()?) {
            ([(first, _), (second, _), ..], _) => {
                return Err(error(self.text, &format!("has {first}= and {second}=; only one is allowed")));
            }
            ([_], true) => return Err(error(self.text, "has a key and insecure=1; only one is allowed")),
            ([(_, secret)], false) => Some(secret.clone()),
            ([], true) => None,
            ([], false) => passphrase.map(Secret::Passphrase),
        };
        let checked = secret.as_ref().map_or(Ok(()), Secret::check);
        checked.map_err(|cause| error(self.text, &format!("needs another passphrase: it {cause}")))?;
        Ok(secret)
    }

    fn is_insecure(&self) -> Result<bool, AddressError> {
        match self.option("insecure").as_deref() {
            None | Some("0") => Ok(false),
            Some("1") => Ok(true),
            Some(other) => Err(error(self.text, &format!("has insecure={other}; allowed: 0, 1"))),
        }
    }

    /// Refuses a listener that other hosts reach without a key, and a key where nothing is encrypted.
    fn check_secrecy(&self, secret: Option<&Secret>, via: &Via, is_reachable: bool) -> Result<(), AddressError> {
        if secret.is_some() && *via != Via::Udp {
            return Err(error(self.text, "has a key, but via=tun is not encrypted: use via=udp, or insecure=1"));
        }
        if is_reachable && secret.is_none() && !self.is_insecure()? {
            return Err(error(
                self.text,
                &format!(
                    "listens for other hosts without a key: add passphrase=… (10 to 79 characters), keyfile=FILE or the variable \
                     {PASSPHRASE_VARIABLE}, the same on both sides; or insecure=1, and anybody can read and send streams"
                ),
            ));
        }
        Ok(())
    }

    fn via(&self, socket: SocketAddr, is_listener: bool) -> Result<Via, AddressError> {
        match self.option("via").as_deref() {
            None | Some("udp") => match TUN_OPTIONS.into_iter().find(|name| self.option(name).is_some()) {
                Some(name) => Err(error(self.text, &format!("has the option `{name}`, which needs via=tun"))),
                None => Ok(Via::Udp),
            },
            Some("tun") => {
                let device = self.option("device").unwrap_or_else(|| DEFAULT_DEVICE.to_owned());
                Ok(Via::Tun { device, local: self.local(socket, is_listener)? })
            }
            Some(via) => Err(error(self.text, &format!("has via={via}; allowed: udp, tun"))),
        }
    }

    /// Returns the local address of a TUN device: for a listener, by default the one before the port.
    fn local(&self, socket: SocketAddr, is_listener: bool) -> Result<IpAddr, AddressError> {
        let named = self.option("local").map(|text| {
            let local = text.parse::<IpAddr>();
            local.map_err(|_| error(self.text, &format!("has local={text}; allowed: an address of IP")))
        });
        match named.transpose()? {
            None if is_listener && !socket.ip().is_unspecified() => Ok(socket.ip()),
            Some(local) if is_listener && local != socket.ip() && !socket.ip().is_unspecified() => {
                Err(error(self.text, "has two local addresses: local= differs from the one before the port"))
            }
            Some(local) if !is_listener && local.is_ipv4() != socket.is_ipv4() => Err(error(
                self.text,
                &format!("cannot be reached from local={local}: both must be of one version of IP"),
            )),
            Some(local) if !local.is_unspecified() => Ok(local),
            _ => {
                Err(error(self.text, "needs a local address that this machine does not have, such as local=10.78.0.2"))
            }
        }
    }

    fn option(&self, name: &str) -> Option<String> {
        let mut pairs = self.url.query_pairs();
        pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }

    fn max_peers(&self, is_listener: bool) -> Result<usize, AddressError> {
        let Some(text) = self.option("maxpeers") else { return Ok(MAX_PEERS) };
        if !is_listener {
            return Err(error(self.text, "has the option `maxpeers`, which only a listener has"));
        }
        let number = text.parse().ok().filter(|number| (1..=MOST_PEERS).contains(number));
        number.ok_or_else(|| error(self.text, &format!("has maxpeers={text}; allowed: 1 to {MOST_PEERS}")))
    }

    /// Parses a time: in milliseconds as in SRT, or with a unit.
    fn time(&self, name: &str, usual: Duration, most: Duration) -> Result<Duration, AddressError> {
        let Some(text) = self.option(name) else { return Ok(usual) };
        // SRT's options are numbers of milliseconds.
        let with_unit = if text.bytes().all(|byte| byte.is_ascii_digit()) { format!("{text}ms") } else { text.clone() };
        let time = with_unit.parse::<earlybird_transport::Time>().map(earlybird_transport::Time::duration);
        time.ok().filter(|time| (Duration::from_millis(1)..=most).contains(time)).ok_or_else(|| {
            let most = most.as_secs_f64();
            error(self.text, &format!("has {name}={text}; allowed: 1ms to {most}s, such as 120 or 120ms"))
        })
    }
}

fn unknown(what: &str, name: &str, known: &[&'static str]) -> String {
    let nearest = earlybird_transport::nearest(name, known.iter().copied());
    let hint = nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
    format!("unknown {what} `{name}`{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relay(text: &str) -> RelayAddress {
        match Address::parse_with(text, None) {
            Ok(Address::Relay(relay)) => relay,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn addresses_are_those_of_srt_live_transmit() {
        let any = |port| SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port);
        assert_eq!(Address::parse("udp://:1234"), Ok(Address::Udp(any(1234).into())));
        assert_eq!(
            Address::parse("udp://127.0.0.1:5000"),
            Ok(Address::Udp(SocketAddr::from(([127, 0, 0, 1], 5000)).into()))
        );
        assert_eq!(
            Address::parse("rtp://[::1]:5000"),
            Ok(Address::Rtp(SocketAddr::from((Ipv6Addr::LOCALHOST, 5000)).into()))
        );
        assert_eq!(Address::parse("file://con"), Ok(Address::File("-".into())));
        assert_eq!(Address::parse("file:clip.ts"), Ok(Address::File("clip.ts".into())));
        assert_eq!(Address::parse("http://:8080/"), Ok(Address::Http(any(8080))));
        let caller = relay("eb://127.0.0.1:4201?latency=200&transport=cubic&streamid=one");
        assert!(!caller.is_listener && caller.latency == Duration::from_millis(200));
        assert_eq!((&*caller.transport, &*caller.stream), ("cubic", "one"));
        let listener = relay("eb://:4201?insecure=1");
        assert!(listener.is_listener && listener.latency == LATENCY && listener.transport == "earlybird-rt");
        assert!(relay("eb://127.0.0.1:4201?mode=listener&latency=1.5s").is_listener);
        let ours = relay("eb://0.0.0.0:4201?insecure=1");
        assert!(ours.is_listener && ours.socket == ([0, 0, 0, 0], 4201).into());
        let tun = |device: &str| Via::Tun { device: device.to_owned(), local: [10, 78, 0, 2].into() };
        assert_eq!(caller.via, Via::Udp);
        assert_eq!(relay("eb://10.79.0.2:4201?via=tun&local=10.78.0.2&device=eb7").via, tun("eb7"));
        for text in
            ["eb://10.78.0.2:4201?mode=listener&via=tun&insecure=1", "eb://:4201?via=tun&local=10.78.0.2&insecure=1"]
        {
            assert_eq!(relay(text).via, tun("earlybird"), "{text}");
        }
    }

    #[test]
    fn errors_explain_invalid_addresses() {
        for (text, words) in [
            ("nonsense", "is no address"),
            ("srtp://host:1", "unknown scheme `srtp` (did you mean `rtp`?)"),
            ("upd://:1234", "unknown scheme `upd` (did you mean `udp`?)"),
            ("udp://127.0.0.1", "has no port"),
            ("tcp://127.0.0.1:80?latency=3", "only eb:// and srt:// have options"),
            ("eb://127.0.0.1:4201?latncy=3", "did you mean `latency`?"),
            ("eb://127.0.0.1:4201?latency=3&latency=4", "has the option `latency` twice"),
            ("eb://127.0.0.1:4201/stream", "has the path `/stream`"),
            ("eb://127.0.0.1:4201?latency=0", "has latency=0; allowed: 1ms to 60s"),
            ("eb://:4201?mode=caller", "names no host"),
            ("eb://:4201?mode=rendezvous", "has mode=rendezvous; allowed: caller, listener"),
            ("eb://:4201?via=sctp", "has via=sctp; allowed: udp, tun"),
            ("eb://:4201?device=eb7", "the option `device`, which needs via=tun"),
            ("eb://127.0.0.1:4201?via=tun", "needs a local address"),
            ("eb://:4201?via=tun", "needs a local address"),
            ("eb://127.0.0.1:4201?via=tun&local=here", "has local=here; allowed: an address of IP"),
            ("eb://127.0.0.1:4201?via=tun&local=fd78::2", "both must be of one version of IP"),
            ("eb://10.78.0.2:4201?mode=listener&via=tun&local=10.78.0.3", "two local addresses"),
            ("file:", "names no file"),
            (
                "eb://:4201",
                "without a key: add passphrase=… (10 to 79 characters), keyfile=FILE or the variable EARLYBIRD_PASSPHRASE",
            ),
            ("eb://192.0.2.1:4201?mode=listener&insecure=0", "or insecure=1, and anybody can read"),
            ("eb://:4201?insecure=yes", "has insecure=yes; allowed: 0, 1"),
            ("eb://10.79.0.2:4201?via=tun&local=10.78.0.2&keyfile=k", "via=tun is not encrypted"),
            ("eb://:4201?insecure=1&keyfile=k", "has a key and insecure=1"),
            ("eb://:4201?keys=k&keyfile=k", "has keyfile= and keys=; only one is allowed"),
            ("eb://192.0.2.1:4201?keys=k", "has keys=, which only a listener has"),
        ] {
            let error = Address::parse_with(text, None).expect_err(text).to_string();
            assert!(error.contains(words) && error.contains(text), "{error}");
        }
    }

    #[test]
    fn a_key_comes_from_an_option_or_the_environment() {
        let secret = |text: &str, variable: Option<&str>| match Address::parse_with(text, variable.map(Into::into)) {
            Ok(Address::Relay(relay)) => relay.secret,
            other => panic!("{other:?}"),
        };
        let passphrase = |text: &str| Some(Secret::Passphrase(text.to_owned()));
        assert_eq!(secret("eb://:4201?passphrase=correct+horse", None), passphrase("correct+horse"));
        assert_eq!(secret("eb://:4201", Some("of the variable")), passphrase("of the variable"));
        assert_eq!(
            secret("eb://:4201?passphrase=of%20the%20option", Some("of the variable")),
            passphrase("of the option")
        );
        assert_eq!(
            secret("eb://:4201?keyfile=/run/key", Some("of the variable")),
            Some(Secret::File("/run/key".into()))
        );
        assert_eq!(secret("eb://:4201?insecure=1", Some("of the variable")), None);
        for text in ["eb://127.0.0.1:4201?mode=listener", "eb://[::1]:4201?mode=listener", "eb://192.0.2.1:4201"] {
            assert_eq!(secret(text, None), None, "{text}");
        }
    }

    /// The lengths of SRT; errors do not repeat the passphrase.
    #[test]
    fn errors_of_passphrases_do_not_contain_them() {
        let long = "x".repeat(80);
        for (passphrase, words) in [
            ("ninechars", "it has 9 characters; allowed: 10 to 79"),
            (&*long, "it has 80 characters; allowed: 10 to 79"),
            ("correct#horse", "write %23"),
            ("correct-horse&keyfile=k", "has passphrase= and keyfile="),
            ("correct-horse&latncy=3", "did you mean `latency`?"),
            ("correct-horse&via=tun&local=10.78.0.2", "via=tun is not encrypted"),
        ] {
            let text = format!("eb://:4201?passphrase={passphrase}");
            let error = Address::parse_with(&text, None).expect_err(passphrase).to_string();
            let value = passphrase.split('&').next().expect("the first part");
            assert!(error.contains(words) && error.contains("passphrase=…") && !error.contains(value), "{error}");
        }
    }
}
