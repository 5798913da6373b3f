//! The dialogue with a publisher, from its connection to its end.

use super::flv::{self, Media};
use earlybird_live::{Clock as _, MonotonicClock};
use earlybird_units::{Duration, Instant};
use rml_rtmp::handshake::{Handshake, HandshakeProcessResult, PeerType};
use rml_rtmp::sessions::{ServerSession, ServerSessionConfig, ServerSessionEvent, ServerSessionResult, StreamMetadata};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;

/// A session; the publisher is not known yet.
pub(super) struct Session {
    stream: TcpStream,
    protocol: ServerSession,
    results: VecDeque<ServerSessionResult>,
    /// Whether the header of the media was passed on.
    has_begun: bool,
    metadata: Option<StreamMetadata>,
    clock: MonotonicClock,
}

/// A request or media of a publisher.
pub(super) enum Request {
    /// It wants to publish this stream.
    Publish { number: u32, application: String, key: String },
    /// Media, as a part of an FLV file.
    Media(Vec<u8>),
    /// It has ended.
    End,
}

const READ_BYTES: usize = 1 << 16;
/// The time until a client must have asked to publish: those that send a byte now and then would keep their places.
const TIMEOUT: Duration = Duration::from_secs(10);

impl Session {
    /// Performs the handshake.
    ///
    /// # Errors
    ///
    /// If the client speaks another protocol, or has gone.
    pub(super) fn open(mut stream: TcpStream) -> io::Result<Self> {
        let clock = MonotonicClock::default();
        let mut handshake = Handshake::new(PeerType::Server);
        let rest = loop {
            check_time(clock)?;
            let received = read(&mut stream)?;
            match handshake.process_bytes(&received).map_err(invalid)? {
                HandshakeProcessResult::InProgress { response_bytes } => stream.write_all(&response_bytes)?,
                HandshakeProcessResult::Completed { response_bytes, remaining_bytes } => {
                    stream.write_all(&response_bytes)?;
                    break remaining_bytes;
                }
            }
        };
        let (mut protocol, mut results) = ServerSession::new(ServerSessionConfig::new()).map_err(invalid)?;
        results.extend(protocol.handle_input(&rest).map_err(invalid)?);
        Ok(Self { stream, protocol, results: results.into(), has_begun: false, metadata: None, clock })
    }

    /// Waits for the next request.
    ///
    /// # Errors
    ///
    /// If the client sends nothing for a while, or has gone.
    pub(super) fn next(&mut self) -> io::Result<Request> {
        loop {
            let Some(result) = self.results.pop_front() else {
                if !self.has_begun {
                    check_time(self.clock)?;
                }
                let received = read(&mut self.stream)?;
                self.results.extend(self.protocol.handle_input(&received).map_err(invalid)?);
                continue;
            };
            match result {
                ServerSessionResult::OutboundResponse(packet) => self.stream.write_all(&packet.bytes)?,
                ServerSessionResult::RaisedEvent(event) => {
                    if let Some(request) = self.handle(event)? {
                        return Ok(request);
                    }
                }
                ServerSessionResult::UnhandleableMessageReceived(_) => {}
            }
        }
    }

    fn handle(&mut self, event: ServerSessionEvent) -> io::Result<Option<Request>> {
        Ok(match event {
            // The name is checked with the key.
            ServerSessionEvent::ConnectionRequested { request_id, .. } => {
                self.accept(request_id)?;
                None
            }
            ServerSessionEvent::PublishStreamRequested { request_id: number, app_name, stream_key, .. } => {
                Some(Request::Publish { number, application: app_name, key: stream_key })
            }
            ServerSessionEvent::PlayStreamRequested { request_id, .. } => {
                self.reject(request_id, "NetStream.Play.StreamNotFound", "This server only receives.")?;
                Some(Request::End)
            }
            ServerSessionEvent::StreamMetadataChanged { metadata, .. } => {
                self.metadata = Some(metadata);
                None
            }
            ServerSessionEvent::AudioDataReceived { data, timestamp, .. } => {
                Some(self.media(Media::Audio, timestamp.value, &data))
            }
            ServerSessionEvent::VideoDataReceived { data, timestamp, .. } => {
                Some(self.media(Media::Video, timestamp.value, &data))
            }
            ServerSessionEvent::PublishStreamFinished { .. } => Some(Request::End),
            _ => None,
        })
    }

    /// Accepts a request.
    pub(super) fn accept(&mut self, number: u32) -> io::Result<()> {
        self.results.extend(self.protocol.accept_request(number).map_err(invalid)?);
        Ok(())
    }

    /// Rejects a request at once, with a code of RTMP.
    pub(super) fn reject(&mut self, number: u32, code: &str, text: &str) -> io::Result<()> {
        for result in self.protocol.reject_request(number, code, text).map_err(invalid)? {
            if let ServerSessionResult::OutboundResponse(packet) = result {
                self.stream.write_all(&packet.bytes)?;
            }
        }
        Ok(())
    }

    /// Returns media as a tag, the first one behind the header.
    fn media(&mut self, media: Media, time: u32, data: &[u8]) -> Request {
        let mut bytes = Vec::new();
        if !std::mem::replace(&mut self.has_begun, true) {
            // FFmpeg waits for both kinds if there are said to be both, up to the end of its analysis.
            let known =
                self.metadata.as_ref().map(|known| (known.audio_codec_id.is_some(), known.video_width.is_some()));
            let (has_audio, has_video) = known.unwrap_or((true, true));
            bytes = flv::header(has_audio || media == Media::Audio, has_video || media == Media::Video);
        }
        bytes.extend(flv::tag(media, time, data));
        Request::Media(bytes)
    }
}

/// Checks the time since the start of this clock.
fn check_time(clock: MonotonicClock) -> io::Result<()> {
    if clock.now() < Instant::ZERO + TIMEOUT { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
}

/// Reads what has arrived. The end of the connection is an error.
fn read(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; READ_BYTES];
    let count = stream.read(&mut buffer)?;
    buffer.truncate(count);
    if count == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(buffer) }
}

fn invalid(error: impl fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}
