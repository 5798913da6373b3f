use earlybird_transport::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A live stream from an encoder to a server over one TCP connection, as OBS Studio sends it over RTMP.
///
/// Each packet of the encoder is written when the socket has taken the one before (`endpoint.send-buffer`, `endpoint.unsent-limit`); what
/// comes meanwhile waits in a queue. Pictures in it are dropped by its playing time, or the encoder's rate follows
/// (`plugins/obs-outputs/rtmp-stream.c` of OBS Studio).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ingest {
    /// Pictures and sound (default: what `encoder` makes up). The name of a video file may stand in place of the table, from the
    /// scenario's folder: the Python package puts there what is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<Film>,
    /// Mean rate of the pictures (default: 6Mb/s, or that of the video file).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The encoder, where no `media` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoder: Option<Encoder>,
    /// Playing time in the queue beyond which pictures are dropped that no other one, or few, refer to (B), until the next one
    /// of another kind (default 700 ms: `drop_threshold_ms`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_threshold: Option<Time>,
    /// Playing time beyond which all pictures but key frames are dropped, until the next key frame (default 900 ms:
    /// `pframe_drop_threshold_ms`; OBS Studio takes at least 200 ms more than `drop-threshold`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pframe_drop_threshold: Option<Time>,
    /// Lower the encoder's rate in place of dropping when 200 ms wait, and raise it by a tenth of `rate` every 4 s (default
    /// false: "Dynamically change bitrate to manage congestion").
    #[serde(default)]
    pub dynamic_bitrate: bool,
}

/// A made-up encoder: all pictures of a kind are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Encoder {
    /// Pictures per second (default 30).
    #[schemars(range(min = 1, max = 1000))]
    pub frame_rate: u32,
    /// From one key frame to the next (default 2 s, as streaming services ask for).
    pub keyframe_interval: Time,
    /// B pictures between two others (default 2: `bf` of OBS Studio's NVENC encoder).
    #[schemars(range(max = 16))]
    pub b_frames: u32,
    /// Size of a key frame ÷ that of a P picture (default 5).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub key_frame_size: f64,
    /// Size of a B picture ÷ that of a P picture (default 0.5).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub b_frame_size: f64,
    /// Rate of the sound, in packets of 1024 samples at 48 kHz (AAC; default 160kb/s, as in OBS Studio).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<Rate>,
}

/// Pictures and sound of a film.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Film {
    /// The times at which the decoder needs the pictures, in seconds from the start of the film, never falling.
    #[schemars(length(min = 1), inner(range(min = 0)))]
    pub times: Vec<f64>,
    /// Bytes of each picture.
    #[schemars(length(min = 1), inner(range(min = 1)))]
    pub sizes: Vec<u32>,
    /// A letter for each picture: I (key frame), P, or B (to which no other one refers, or few).
    #[schemars(length(min = 1))]
    pub kinds: String,
    /// Length of the film in seconds, after which it starts again.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub length: f64,
    /// Its sound, packet by packet (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio: Option<Sound>,
}

/// Packets of sound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sound {
    /// The time at which each is needed, in seconds from the start of the film, never falling.
    #[schemars(inner(range(min = 0)))]
    pub times: Vec<f64>,
    /// Bytes of each.
    #[schemars(inner(range(min = 1)))]
    pub sizes: Vec<u32>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self {
            frame_rate: 30,
            keyframe_interval: Time::from_secs(2),
            b_frames: 2,
            key_frame_size: 5.0,
            b_frame_size: 0.5,
            audio: None,
        }
    }
}

impl Ingest {
    /// Returns the playing times beyond which B pictures, and all but key frames, are dropped.
    pub fn thresholds(&self) -> [Time; 2] {
        [
            // `rtmp_stream_defaults` of OBS Studio.
            self.drop_threshold.unwrap_or(Time::from_millis(700)),
            self.pframe_drop_threshold.unwrap_or(Time::from_millis(900)),
        ]
    }

    /// Returns the mean rate of the pictures in bits per second.
    pub fn picture_rate(&self) -> f64 {
        let own = self.rate.map(|rate| rate.rate().bits_per_second() as f64);
        let rate = own.or_else(|| self.media.as_ref().map(Film::picture_rate));
        rate.unwrap_or(MADE_UP)
    }

    /// Returns the film at its rate: the one of the file, or what the encoder makes up.
    pub fn film(&self) -> Film {
        let film = self.media.clone().unwrap_or_else(|| self.encoder.clone().unwrap_or_default().film());
        film.at_rate(self.picture_rate())
    }
}

/// Bits per second of a made-up film.
const MADE_UP: f64 = 6e6;

/// Bits per second of its sound.
const SOUND_RATE: f64 = 160e3;

/// Seconds of a packet of sound.
const SOUND_PERIOD: f64 = 1024.0 / 48_000.0;

/// Sizes are first counted in this, and then scaled.
const BYTES: f64 = 1e6;

impl Film {
    /// Returns the mean rate of its pictures in bits per second.
    pub fn picture_rate(&self) -> f64 {
        rate_of(&self.sizes, self.length)
    }

    /// Returns the mean rate of its sound in bits per second.
    pub fn sound_rate(&self) -> f64 {
        self.audio.as_ref().map_or(0.0, |sound| rate_of(&sound.sizes, self.length))
    }

    fn at_rate(mut self, rate: f64) -> Self {
        let factor = rate / self.picture_rate();
        for size in &mut self.sizes {
            *size = (f64::from(*size) * factor).round().max(1.0) as u32;
        }
        self
    }
}

fn rate_of(sizes: &[u32], length: f64) -> f64 {
    sizes.iter().map(|size| f64::from(*size)).sum::<f64>() * 8.0 / length
}

impl Encoder {
    /// Makes up the pictures from one key frame to the next, in the order of decoding, and their sound.
    fn film(&self) -> Film {
        let length = self.keyframe_interval.duration().as_secs_f64();
        let pictures = ((length * f64::from(self.frame_rate)).round() as usize).max(1);
        let group = self.b_frames as usize + 1;
        let kind = |index: usize| match index {
            0 => 'I',
            // In the order of decoding a P picture comes before the B pictures that refer to it.
            index if (index - 1).is_multiple_of(group) => 'P',
            _ => 'B',
        };
        let size = |kind| match kind {
            'I' => self.key_frame_size,
            'P' => 1.0,
            _ => self.b_frame_size,
        };
        let kinds: String = (0..pictures).map(kind).collect();
        Film {
            times: (0..pictures).map(|index| index as f64 / f64::from(self.frame_rate)).collect(),
            sizes: kinds.chars().map(|kind| (size(kind) * BYTES) as u32).collect(),
            kinds,
            length,
            audio: Some(self.sound(length)),
        }
    }

    fn sound(&self, length: f64) -> Sound {
        // Whole packets, stretched to the length, so that sound and pictures repeat together.
        let packets = (length / SOUND_PERIOD).floor().max(1.0);
        let rate = self.audio.map_or(SOUND_RATE, |rate| rate.rate().bits_per_second() as f64);
        let bytes = (rate * length / 8.0 / packets).round().max(1.0) as u32;
        let times = (0..packets as u32).map(|packet| f64::from(packet) * length / packets).collect();
        Sound { times, sizes: vec![bytes; packets as usize] }
    }
}
