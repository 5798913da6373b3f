//! Encryption and authentication of datagrams below the endpoint: [`Sealed`] wraps a device of `earlybird-live`.
//!
//! Both sides know a [`Key`]. A handshake of Noise (`Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s`, revision 34) gives each session keys of
//! its own; its first message carries the SYN. Every datagram after it has a counter, which is the nonce of ChaCha20-Poly1305 (RFC 8439).
//! A retransmission is a new datagram with a new counter, so that holes and skipped frames do not matter.
//!
//! | datagram | layout, in bytes |
//! |---|---|
//! | initiation | kind 1, zeros 7, Noise message 1 (its payload: id of the keys 7, id of the caller 7, time 8, cookie 32, datagram), MAC 32 |
//! | response | kind 1, receiver's id 7, Noise message 2 (its payload: id of the keys 7) |
//! | cookie | kind 1, receiver's id 7, nonce 12, cookie 32, tag 16 |
//! | data, control | kind 1, receiver's id 7, counter 8, ciphertext, tag 16 |
//!
//! Numbers are little-endian, as in Noise. The kinds are 1 to 5: a TCP header over UDP begins with its source port, which is 1280 or more.
//! Timers and limits are those of `WireGuard` (Donenfeld, NDSS 2017) where both have them.
#![forbid(unsafe_code)]

mod cipher;
mod cookie;
mod engine;
mod handshake;
mod identities;
mod initiations;
mod key;
mod packet;
mod peer;
mod random;
mod sealed;
mod traffic_keys;
mod window;

pub use engine::{Drops, Role};
pub use identities::Identities;
pub use key::{Key, KeyError};
pub use packet::OVERHEAD;
pub use random::RandomSource;
pub use sealed::Sealed;
pub use window::ReplayWindow;
