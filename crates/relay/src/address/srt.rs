//! Addresses of SRT, with the options of `srt-live-transmit` and `FFmpeg`.

use super::{AddressError, CONNECT_TIMEOUT, IDLE_TIMEOUT, LATENCY, Options, error};
use crate::secret::Secret;
use earlybird_srt::{DEFAULT_PAYLOAD, MAX_PAYLOAD, Settings};
use earlybird_units::Duration;
use std::net::SocketAddr;

/// The address and options of a caller or listener of SRT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SrtAddress {
    /// The socket of the listener.
    pub socket: SocketAddr,
    /// Whether this end is the listener.
    pub is_listener: bool,
    /// The options.
    pub settings: Settings,
}

/// The options of srt://.
const OPTIONS: [&str; 8] =
    ["latency", "passphrase", "pbkeylen", "streamid", "mode", "pkt_size", "conntimeo", "peeridletimeo"];
/// The longest latency. It is short enough that most numbers of microseconds, the unit of `FFmpeg`, are refused.
const LONGEST: Duration = Duration::from_secs(10);
/// The smallest message: a packet of a transport stream.
const MIN_PAYLOAD: usize = 188;
/// The longest name of a stream (`SRTO_STREAMID`).
const MAX_STREAM: usize = 512;

impl Options<'_> {
    pub(super) fn srt(&self) -> Result<SrtAddress, AddressError> {
        self.check_options(&OPTIONS)?;
        Ok(SrtAddress { socket: self.socket()?, is_listener: self.is_listener()?, settings: self.settings()? })
    }

    fn settings(&self) -> Result<Settings, AddressError> {
        let time = |name, usual| self.time(name, usual, super::LONGEST).map(to_std);
        let latency = self.time("latency", LATENCY, LONGEST).map_err(|AddressError(problem)| {
            let problem = problem.trim_end_matches('.');
            AddressError(format!("{problem} (milliseconds: of FFmpeg's and OBS's microseconds, drop three zeros)."))
        })?;
        Ok(Settings {
            latency: to_std(latency),
            passphrase: self.srt_passphrase()?,
            key_bytes: self.key_bytes()?,
            stream: self.stream()?,
            payload: self.number("pkt_size", MIN_PAYLOAD..=MAX_PAYLOAD)?.unwrap_or(DEFAULT_PAYLOAD),
            connect_timeout: time("conntimeo", CONNECT_TIMEOUT)?,
            idle_timeout: time("peeridletimeo", IDLE_TIMEOUT)?,
        })
    }

    fn srt_passphrase(&self) -> Result<Option<String>, AddressError> {
        if self.url.fragment().is_some() {
            return Err(error(self.text, "has a `#`, which ends an address: write %23"));
        }
        let Some(passphrase) = Secret::passphrase_in(self.url.query().unwrap_or_default()) else { return Ok(None) };
        // The lengths of SRT are those of our passphrases.
        Secret::Passphrase(passphrase.clone())
            .check()
            .map_err(|cause| error(self.text, &format!("needs another passphrase: it {cause}")))?;
        Ok(Some(passphrase))
    }

    fn stream(&self) -> Result<String, AddressError> {
        let stream = self.option("streamid").unwrap_or_default();
        if stream.len() > MAX_STREAM {
            return Err(error(self.text, &format!("has a streamid of {} bytes; allowed: {MAX_STREAM}", stream.len())));
        }
        Ok(stream)
    }

    fn key_bytes(&self) -> Result<u8, AddressError> {
        let Some(text) = self.option("pbkeylen") else { return Ok(0) };
        let bytes = text.parse().ok().filter(|bytes| [0, 16, 24, 32].contains(bytes));
        bytes.ok_or_else(|| error(self.text, &format!("has pbkeylen={text}; allowed: 0, 16, 24, 32")))
    }
}

fn to_std(time: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(time.as_nanos())
}

#[cfg(test)]
mod tests {
    use crate::Address;

    #[test]
    fn srt_options_are_those_of_srt_live_transmit() {
        let srt = |text: &str| match Address::parse_with(text, Some("of the variable".into())) {
            Ok(Address::Srt(srt)) => srt,
            other => panic!("{other:?}"),
        };
        let usual = srt("srt://:9000");
        assert!(usual.is_listener && usual.settings.latency.as_millis() == 120 && usual.settings.payload == 1316);
        // The variable is for relays: with it, OBS without a passphrase would be refused.
        assert_eq!(usual.settings.passphrase, None);
        let caller = srt("srt://127.0.0.1:9000?latency=200ms&passphrase=correct+horse&pbkeylen=32&streamid=%23!::r=a");
        assert!(!caller.is_listener && caller.settings.latency.as_millis() == 200);
        assert_eq!(caller.settings.passphrase.as_deref(), Some("correct+horse"));
        assert_eq!((caller.settings.key_bytes, &*caller.settings.stream), (32, "#!::r=a"));
        let listener = srt("srt://127.0.0.1:9000?mode=listener&pkt_size=188&conntimeo=1s&peeridletimeo=2000");
        assert!(listener.is_listener && listener.settings.payload == 188);
        assert_eq!((listener.settings.connect_timeout.as_secs(), listener.settings.idle_timeout.as_secs()), (1, 2));
    }

    #[test]
    fn invalid_srt_options_name_what_is_allowed() {
        for (text, words) in [
            ("srt://:9000?latency=120000", "allowed: 1ms to 10s, such as 120 or 120ms (milliseconds: of FFmpeg's"),
            ("srt://:9000?pbkeylen=17", "has pbkeylen=17; allowed: 0, 16, 24, 32"),
            ("srt://:9000?pkt_size=1457", "has pkt_size=1457; allowed: 188 to 1456"),
            ("srt://:9000?mode=rendezvous", "allowed: caller, listener"),
            ("srt://:9000?stream=one", "did you mean `streamid`?"),
            ("srt://:9000/live", "has the path `/live`; use `?streamid="),
            ("srt://host.invalid", "has no port"),
        ] {
            let error = Address::parse(text).expect_err(text).to_string();
            assert!(error.contains(words), "{error}");
        }
        let short = Address::parse("srt://:9000?passphrase=ninechars").expect_err("too short").to_string();
        assert!(short.contains("allowed: 10 to 79") && !short.contains("ninechars"), "{short}");
    }
}
