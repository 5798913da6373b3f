//! A handshake and seals without cryptography.
//!
//! Nobody listens in a simulator, and what cryptography changes there is how long packets are and how often they cross before
//! data may follow. Both are kept: seals of 16 bytes (RFC 9001 §5.3), and TLS 1.3's flights in their order, with sizes computed
//! from their fields where these are fixed, and assumed where they are not. Keys, signatures and random nonces are left out, whose
//! bytes would be others in each run.

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair,
    Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};
use std::any::Any;
use std::io::Cursor;
use std::sync::Arc;

/// Bytes of the seal behind every packet (RFC 9001 §5.3).
const SEAL: usize = 16;
/// Bytes that hide a header (RFC 9001 §5.4.2).
const SAMPLE: usize = 16;
/// Packets that a key seals (RFC 9001 §6.6, AES-GCM), and forgeries that it bears.
const SEALED: u64 = 1 << 23;
const FORGED: u64 = 1 << 52;

/// `ClientHello`, assumed: one name, one key share of X25519 and the transport parameters. It fits into the first packet, which is
/// filled up to 1200 bytes whatever it holds (RFC 9000 §14.1).
const CLIENT_HELLO: usize = 300;
/// `ServerHello` (RFC 8446 §4.1.3): 40 bytes, and a version of 6 and a key share of X25519 of 40 as extensions, without an
/// identifier of a session, which QUIC does not have (RFC 9001 §8.4), and with the message's header of 4.
const SERVER_HELLO: usize = 90;
/// `EncryptedExtensions`, `Certificate`, `CertificateVerify` and `Finished`, assumed as for one short certificate. A chain of several
/// takes more packets, and with more than 3600 bytes in all a round trip more (RFC 9000 §8.1).
const SERVER_FLIGHT: usize = 700;
/// `Finished` with SHA-256 (RFC 8446 §4.4.4).
const FINISHED: usize = 36;

/// Seals nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Null;

impl PacketKey for Null {
    fn encrypt(&self, _packet: u64, _buf: &mut [u8], _header_len: usize) {}

    fn decrypt(&self, _packet: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let len = payload.len().checked_sub(SEAL).ok_or(CryptoError)?;
        // The tag is cut off without a check: the simulator does not corrupt packets.
        payload.truncate(len);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        SEAL
    }

    fn confidentiality_limit(&self) -> u64 {
        SEALED
    }

    fn integrity_limit(&self) -> u64 {
        FORGED
    }
}

impl HeaderKey for Null {
    fn decrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn encrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        SAMPLE
    }
}

/// Signs tokens of stateless resets, which are not used here.
impl HmacKey for Null {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        // quinn compares signatures of reset tokens, so that they must depend on the data.
        signature_out.fill(0);
        signature_out.iter_mut().zip(data).for_each(|(out, byte)| *out = *byte);
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut own = vec![0; signature.len()];
        self.sign(data, &mut own);
        if own == signature { Ok(()) } else { Err(CryptoError) }
    }
}

/// Seals tokens of address validation, of which none is handed out.
impl HandshakeTokenKey for Null {
    fn aead_from_hkdf(&self, _random_bytes: &[u8]) -> Box<dyn AeadKey> {
        Box::new(*self)
    }
}

impl AeadKey for Null {
    fn seal(&self, data: &mut Vec<u8>, _additional_data: &[u8]) -> Result<(), CryptoError> {
        data.extend([0; SEAL]);
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _additional_data: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let len = data.len().checked_sub(SEAL).ok_or(CryptoError)?;
        Ok(&mut data[..len])
    }
}

fn packet_keys() -> KeyPair<Box<dyn PacketKey>> {
    KeyPair { local: Box::new(Null), remote: Box::new(Null) }
}

fn keys() -> Keys {
    Keys { header: KeyPair { local: Box::new(Null), remote: Box::new(Null) }, packet: packet_keys() }
}

impl ClientConfig for Null {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Handshake::new(Side::Client, params)))
    }
}

impl ServerConfig for Null {
    fn initial_keys(&self, _version: u32, _dst_cid: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _version: u32, _orig_dst_cid: &ConnectionId, _packet: &[u8]) -> [u8; 16] {
        [0; SEAL]
    }

    fn start_session(self: Arc<Self>, _version: u32, params: &TransportParameters) -> Box<dyn Session> {
        Box::new(Handshake::new(Side::Server, params))
    }
}

/// The next step of an end's handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Writes a flight of so many bytes, with its transport parameters if they have their place in it.
    Write { bytes: usize, has_parameters: bool },
    /// Reads the peer's.
    Read { bytes: usize, has_parameters: bool },
    /// Goes on with new keys.
    NewKeys,
}

const fn write(bytes: usize, has_parameters: bool) -> Step {
    Step::Write { bytes, has_parameters }
}

const fn read(bytes: usize, has_parameters: bool) -> Step {
    Step::Read { bytes, has_parameters }
}

/// TLS 1.3 with a new peer (RFC 8446 §2, figure 1), of the side that opens …
const CLIENT: &[Step] = &[
    write(CLIENT_HELLO, true),
    read(SERVER_HELLO, false),
    Step::NewKeys,
    read(SERVER_FLIGHT, true),
    write(FINISHED, false),
    Step::NewKeys,
];

/// … and of the other one.
const SERVER: &[Step] = &[
    read(CLIENT_HELLO, true),
    write(SERVER_HELLO, false),
    Step::NewKeys,
    write(SERVER_FLIGHT, true),
    Step::NewKeys,
    read(FINISHED, false),
];

/// One side of a handshake.
#[derive(Debug)]
struct Handshake {
    side: Side,
    /// The remaining steps.
    steps: &'static [Step],
    parameters: Vec<u8>,
    /// The received part of the current flight.
    arrived: Vec<u8>,
    peer: Option<TransportParameters>,
}

impl Handshake {
    fn new(side: Side, params: &TransportParameters) -> Self {
        let steps = if side.is_client() { CLIENT } else { SERVER };
        let mut parameters = Vec::new();
        params.write(&mut parameters);
        Self { side, steps, parameters, arrived: Vec::new(), peer: None }
    }

    /// Removes a complete flight from the received bytes. Returns whether there was one.
    fn take_flight(&mut self) -> Result<bool, TransportError> {
        // `true` would announce handshake data, of which there is none.
        let Some((Step::Read { bytes, has_parameters }, rest)) = self.steps.split_first() else { return Ok(false) };
        // A flight may take several packets.
        if self.arrived.len() < *bytes {
            return Ok(false);
        }
        let flight: Vec<u8> = self.arrived.drain(..bytes).collect();
        if *has_parameters {
            let len = usize::from(u16::from_be_bytes([flight[0], flight[1]]));
            let parameters = flight.get(2..2 + len).unwrap_or_default();
            self.peer = Some(TransportParameters::read(self.side, &mut Cursor::new(parameters))?);
        }
        self.steps = rest;
        Ok(true)
    }

    fn flight(&self, bytes: usize, has_parameters: bool) -> Vec<u8> {
        let mut flight = Vec::with_capacity(bytes);
        if has_parameters {
            // A length, because the rest of the flight is padding up to the size of TLS's messages.
            flight.extend((self.parameters.len() as u16).to_be_bytes());
            flight.extend(&self.parameters);
        }
        // The sizes of flights are constants, so a new version of quinn could break them.
        assert!(flight.len() <= bytes, "quinn's transport parameters are longer than the flight they are in");
        flight.resize(bytes, 0);
        flight
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _dst_cid: &ConnectionId, _side: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    // quinn sends 1-RTT data as soon as this end has no step left.
    fn is_handshaking(&self) -> bool {
        !self.steps.is_empty()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.arrived.extend(buf);
        self.take_flight()?;
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        if let Some((Step::Write { bytes, has_parameters }, rest)) = self.steps.split_first() {
            buf.extend(self.flight(*bytes, *has_parameters));
            self.steps = rest;
        }
        let (Step::NewKeys, rest) = self.steps.split_first()? else { return None };
        self.steps = rest;
        Some(keys())
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(packet_keys())
    }

    fn is_valid_retry(&self, _orig_dst_cid: &ConnectionId, _header: &[u8], _payload: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        _output: &mut [u8],
        _label: &[u8],
        _context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}
