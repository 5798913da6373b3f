//! The Noise handshake and its messages.

use crate::cookie::COOKIE;
use crate::key::Key;
use crate::packet::{HEADER, ID, KeyId, Kind, TAG, header};
use crate::random::RandomSource;
use ring::hmac;
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, HandshakeState};

/// The Noise protocol: no static keys, and a key that both sides know, mixed in before the first message.
const PROTOCOL: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
/// The version of the datagrams' format.
const PROLOGUE: &[u8] = b"earlybird sealed datagrams 1";
/// Bytes of a public key of X25519, the first part of each Noise message.
const EPHEMERAL: usize = 32;
/// Bytes of the MAC at the end of an initiation: it is checked before the handshake is computed.
const MAC: usize = 32;
/// Bytes of an initiation's payload before its datagram: two ids, the time and the cookie.
const FIELDS: usize = 2 * ID + 8 + COOKIE;
/// Bytes of an initiation without a datagram.
const SHORTEST: usize = HEADER + EPHEMERAL + FIELDS + TAG + MAC;

/// The fields of a caller's first message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Initiation {
    /// The id that the caller has chosen.
    pub(crate) id: KeyId,
    /// The id of the caller, the same in all its initiations.
    pub(crate) caller: KeyId,
    /// Milliseconds since 1970 by the caller's clock.
    pub(crate) unix_ms: u64,
    /// The cookie of the listener; zeros without one.
    pub(crate) cookie: [u8; COOKIE],
    /// The caller's first datagram, such as a SYN; may be empty.
    pub(crate) datagram: Vec<u8>,
}

impl Initiation {
    fn payload(&self) -> Vec<u8> {
        let time = self.unix_ms.to_le_bytes();
        [&self.id.bytes()[..], &self.caller.bytes(), &time, &self.cookie, &self.datagram].concat()
    }

    fn parse(payload: &[u8]) -> Option<Self> {
        let (id, rest) = payload.split_first_chunk::<ID>()?;
        let (caller, rest) = rest.split_first_chunk::<ID>()?;
        let (time, rest) = rest.split_first_chunk::<8>()?;
        let (cookie, datagram) = rest.split_first_chunk::<COOKIE>()?;
        Some(Self {
            id: KeyId::of(*id),
            caller: KeyId::of(*caller),
            unix_ms: u64::from_le_bytes(*time),
            cookie: *cookie,
            datagram: datagram.to_vec(),
        })
    }
}

/// The randomness of Noise comes from ours.
struct Resolver(RandomSource);

impl CryptoResolver for Resolver {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(self.0.clone()))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        DefaultResolver.resolve_dh(choice)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        DefaultResolver.resolve_hash(choice)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        DefaultResolver.resolve_cipher(choice)
    }
}

/// Computes handshakes with one key.
#[derive(Debug)]
pub(crate) struct Handshakes {
    key: Key,
    mac: hmac::Key,
    random: RandomSource,
}

/// A handshake that waits for the other side's message.
#[derive(Debug)]
pub(crate) struct Started {
    noise: Box<HandshakeState>,
    /// The first public key of the handshake, which identifies it.
    pub(crate) ephemeral: [u8; EPHEMERAL],
}

/// The keys of a handshake: of the side that sent the first message, and of the other one.
pub(crate) type Split = ([u8; 32], [u8; 32]);

impl Handshakes {
    pub(crate) fn new(key: Key, random: RandomSource) -> Self {
        let both = hmac::Key::new(hmac::HMAC_SHA256, &key.0);
        let mac = hmac::sign(&both, b"earlybird initiation");
        Self { mac: hmac::Key::new(hmac::HMAC_SHA256, mac.as_ref()), key, random }
    }

    pub(crate) const fn key(&self) -> &Key {
        &self.key
    }

    fn builder(&self) -> Option<Builder<'_>> {
        let resolver = Box::new(Resolver(self.random.clone()));
        Builder::with_resolver(PROTOCOL.parse().ok()?, resolver).psk(0, &self.key.0).ok()?.prologue(PROLOGUE).ok()
    }

    /// Starts a handshake. Returns it and its datagram; `None` if there are no random bytes or the datagram inside is too long.
    pub(crate) fn initiate(&self, initiation: &Initiation) -> Option<(Started, Vec<u8>)> {
        let mut noise = self.builder()?.build_initiator().ok()?;
        let payload = initiation.payload();
        let mut datagram = vec![0; HEADER + EPHEMERAL + payload.len() + TAG];
        datagram[..HEADER].copy_from_slice(&header(Kind::Initiation, KeyId(0)));
        noise.write_message(&payload, &mut datagram[HEADER..]).ok()?;
        let ephemeral = *datagram[HEADER..].first_chunk()?;
        datagram.extend(hmac::sign(&self.mac, &datagram).as_ref());
        Some((Started { noise: Box::new(noise), ephemeral }, datagram))
    }

    /// Reads an initiation. `None` if it was not made with the key.
    pub(crate) fn read_initiation(&self, datagram: &[u8]) -> Option<(Started, Initiation)> {
        if datagram.len() < SHORTEST {
            return None;
        }
        let (signed, mac) = datagram.split_at(datagram.len() - MAC);
        hmac::verify(&self.mac, signed, mac).ok()?;
        let message = signed.strip_prefix(&header(Kind::Initiation, KeyId(0)))?;
        let mut noise = self.builder()?.build_responder().ok()?;
        let mut payload = vec![0; message.len()];
        let length = noise.read_message(message, &mut payload).ok()?;
        let ephemeral = *message.first_chunk()?;
        Some((Started { noise: Box::new(noise), ephemeral }, Initiation::parse(&payload[..length])?))
    }
}

impl Started {
    /// Answers an initiation. Returns the datagram and the keys.
    pub(crate) fn respond(mut self, to: KeyId, id: KeyId) -> Option<(Vec<u8>, Split)> {
        let mut datagram = vec![0; HEADER + EPHEMERAL + ID + TAG];
        datagram[..HEADER].copy_from_slice(&header(Kind::Response, to));
        self.noise.write_message(&id.bytes(), &mut datagram[HEADER..]).ok()?;
        Some((datagram, self.noise.dangerously_get_raw_split()))
    }

    /// Reads a response, without its header. Returns the id that the listener has chosen, and the keys. After a forged response, the
    /// authentic one can still be read.
    pub(crate) fn finish(&mut self, message: &[u8]) -> Option<(KeyId, Split)> {
        let mut payload = [0; EPHEMERAL + ID + TAG];
        let length = self.noise.read_message(message, &mut payload).ok()?;
        let id = KeyId::of(payload[..length].try_into().ok()?);
        Some((id, self.noise.dangerously_get_raw_split()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")).collect()
    }

    fn fixed(hex: &'static str) -> RandomSource {
        RandomSource::new(move |into| {
            into.copy_from_slice(&bytes(hex));
            Ok(())
        })
    }

    fn handshakes(number: u8) -> Handshakes {
        let mut next = 0;
        let random = RandomSource::new(move |into| {
            next += 1;
            into.fill(next);
            Ok(())
        });
        Handshakes::new(Key::new([number; 32]), random)
    }

    fn initiation() -> Initiation {
        let (id, caller) = (KeyId(7), KeyId(8));
        Initiation { id, caller, unix_ms: 9, cookie: [10; COOKIE], datagram: b"SYN".to_vec() }
    }

    /// The vector of the Haskell library cacophony, which snow's tests have too.
    #[test]
    fn the_handshake_is_that_of_other_implementations_of_noise() {
        let key: [u8; 32] =
            bytes("54686973206973206d7920417573747269616e20706572737065637469766521").try_into().expect("32 bytes");
        let noise = |ephemeral| {
            let resolver = Box::new(Resolver(fixed(ephemeral)));
            let builder = Builder::with_resolver(PROTOCOL.parse().expect("it is known"), resolver);
            builder.psk(0, &key).and_then(|builder| builder.prologue(b"John Galt")).expect("both are valid")
        };
        let caller = noise("893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a").build_initiator();
        let listener = noise("bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b").build_responder();
        let (mut caller, mut listener) = (caller.expect("valid"), listener.expect("valid"));
        let mut message = [0; 128];
        let length = caller.write_message(b"Ludwig von Mises", &mut message).expect("it is short");
        assert_eq!(
            message[..length],
            bytes(
                "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944fda936bec35a8adfdff198386f7d5475880897edaaf7495314c99095a2e4d66a"
            )
        );
        listener.read_message(&message[..length], &mut [0; 128]).expect("it is authentic");
        let length = listener.write_message(b"Murray Rothbard", &mut message).expect("it is short");
        assert_eq!(
            message[..length],
            bytes(
                "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f1448088434cd2a371993ba41ea11448024fca32766b169183c9e691a7a433279da7e729"
            )
        );
        caller.read_message(&message[..length], &mut [0; 128]).expect("it is authentic");
        assert_eq!(
            caller.get_handshake_hash(),
            bytes("b3e9c846d264120a4211e18307da91157a21e92e69b639c50f027f101db3e1a6")
        );
    }

    #[test]
    fn both_sides_get_the_fields_and_the_same_keys() {
        let (mut caller, datagram) = handshakes(1).initiate(&initiation()).expect("random bytes");
        assert_eq!(datagram.len(), SHORTEST + 3);
        let (listener, seen) = handshakes(1).read_initiation(&datagram).expect("it is authentic");
        assert_eq!((seen, listener.ephemeral), (initiation(), caller.ephemeral));
        let (response, keys) = listener.respond(KeyId(7), KeyId(5)).expect("random bytes");
        assert_eq!((response[0], response.len()), (2, 63));
        let mut forged = response[HEADER..].to_vec();
        forged[40] ^= 1;
        assert_eq!(caller.finish(&forged), None);
        assert_eq!(caller.finish(&response[HEADER..]), Some((KeyId(5), keys)));
    }

    #[test]
    fn any_changed_byte_or_another_key_is_detected() {
        let (_, datagram) = handshakes(1).initiate(&initiation()).expect("random bytes");
        assert!(handshakes(2).read_initiation(&datagram).is_none());
        for index in 0..datagram.len() {
            let mut changed = datagram.clone();
            changed[index] ^= 0x40;
            assert!(handshakes(1).read_initiation(&changed).is_none(), "{index}");
            assert!(handshakes(1).read_initiation(&datagram[..index]).is_none(), "{index}");
        }
    }
}
