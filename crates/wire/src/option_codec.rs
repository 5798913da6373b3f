use crate::{CannotEmit, FastOpen, Flags, Options, SackBlock, SackBlocks, SeqNum, Signature, SkipNotice, Timestamps};
use core::num::NonZeroU16;

/// The arrangement of options. It differs only on SYNs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// That of Linux, the most common one on real paths: SACK-permitted fills the gap before the timestamps.
    #[default]
    Linux,
    /// Each option is padded to whole words. The simulator uses it: sizes of SYNs are part of published results.
    Aligned,
}

/// The first shared experimental option kind (RFC 6994 §3).
const EXPERIMENT: u8 = 253;
/// The second shared experimental option kind, which Linux uses.
const OTHER_EXPERIMENT: u8 = 254;
/// The experiment identifier of SNACK, not registered: "SK".
const SKIP_NOTICE: [u8; 2] = [0x53, 0x4B];
/// The experiment identifier of TCP Fast Open before RFC 7413 assigned a kind.
const EXPERIMENTAL_FAST_OPEN: [u8; 2] = [0xF9, 0x89];
const FAST_OPEN: u8 = 34;

/// A buffer that options are written to.
pub(crate) struct OptionWriter {
    bytes: [u8; 40],
    len: usize,
}

impl OptionWriter {
    pub(crate) fn new(options: &Options, layout: Layout) -> Result<Self, CannotEmit> {
        let mut writer = Self { bytes: [0; 40], len: 0 };
        writer.write(options, layout)?;
        Ok(writer)
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn write(&mut self, options: &Options, layout: Layout) -> Result<(), CannotEmit> {
        if let Some(mss) = options.mss {
            self.put(&[2, 4])?;
            self.put(&mss.get().to_be_bytes())?;
        }
        match layout {
            Layout::Linux => self.write_as_linux(options),
            Layout::Aligned => self.write_aligned(options),
        }?;
        if let Some(notice) = options.skip_notice {
            self.write_notice(notice)?;
        }
        if let Some(fast_open) = options.fast_open() {
            self.write_fast_open(&fast_open)?;
        }
        self.write_sack(&options.sack)
    }

    fn write_as_linux(&mut self, options: &Options) -> Result<(), CannotEmit> {
        if options.sack_permitted {
            // `tcp_options_write`: SACK-permitted takes the place of the two NOPs before the timestamps.
            self.put(if options.timestamps.is_some() { &[4, 2] } else { &[1, 1, 4, 2] })?;
        }
        if let Some(timestamps) = options.timestamps {
            self.put(if options.sack_permitted { &[] } else { &[1, 1] })?;
            self.write_timestamps(timestamps)?;
        }
        self.write_window_scale(options)
    }

    fn write_aligned(&mut self, options: &Options) -> Result<(), CannotEmit> {
        self.write_window_scale(options)?;
        if options.sack_permitted {
            self.put(&[1, 1, 4, 2])?;
        }
        if let Some(timestamps) = options.timestamps {
            self.put(&[1, 1])?;
            self.write_timestamps(timestamps)?;
        }
        Ok(())
    }

    fn write_window_scale(&mut self, options: &Options) -> Result<(), CannotEmit> {
        options.window_scale.map_or(Ok(()), |shift| self.put(&[1, 3, 3, shift]))
    }

    fn write_timestamps(&mut self, timestamps: Timestamps) -> Result<(), CannotEmit> {
        self.put(&[8, 10])?;
        self.put(&timestamps.value.to_be_bytes())?;
        self.put(&timestamps.echo.to_be_bytes())
    }

    fn write_notice(&mut self, notice: SkipNotice) -> Result<(), CannotEmit> {
        let [high, low] = SKIP_NOTICE;
        match notice {
            SkipNotice::Offer => self.put(&[EXPERIMENT, 4, high, low]),
            SkipNotice::Skipped { total, first, segments } => {
                // Two NOPs align the 14 bytes of the option to whole words.
                self.put(&[1, 1, EXPERIMENT, 14, high, low])?;
                self.put(&total.to_be_bytes())?;
                self.put(&first.0.to_be_bytes())?;
                self.put(&segments.to_be_bytes())
            }
        }
    }

    fn write_fast_open(&mut self, fast_open: &FastOpen) -> Result<(), CannotEmit> {
        let cookie = fast_open.as_slice();
        if fast_open.is_experimental() {
            let [high, low] = EXPERIMENTAL_FAST_OPEN;
            self.put(&[OTHER_EXPERIMENT, 4 + cookie.len() as u8, high, low])?;
        } else {
            self.put(&[FAST_OPEN, 2 + cookie.len() as u8])?;
        }
        self.put(cookie)?;
        // Even as it is; a word asks for two bytes more, or for none.
        self.put(if self.len.is_multiple_of(4) { &[] } else { &[1, 1] })
    }

    fn write_sack(&mut self, sack: &SackBlocks) -> Result<(), CannotEmit> {
        if sack.is_empty() {
            return Ok(());
        }
        // SACK blocks are last: as many are written as the other options leave room for.
        self.put(&[1, 1, 5, 2 + 8 * sack.len() as u8])?;
        for block in sack.as_slice() {
            self.put(&block.left.0.to_be_bytes())?;
            self.put(&block.right.0.to_be_bytes())?;
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), CannotEmit> {
        let end = self.len + bytes.len();
        self.bytes.get_mut(self.len..end).ok_or(CannotEmit::Options)?.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }
}

/// Options read from bytes.
#[derive(Default)]
pub(crate) struct ReadOptions {
    pub(crate) options: Options,
    pub(crate) signature: Option<Signature>,
    pub(crate) is_broken: bool,
}

impl ReadOptions {
    /// Reads up to the end or to an option with an impossible length; the options before it are valid, as in Linux (RFC 9293
    /// §3.1, MUST-7, requires only that a host survives).
    pub(crate) fn new(mut bytes: &[u8], flags: Flags) -> Self {
        let mut read = Self::default();
        while let Some((&kind, rest)) = bytes.split_first() {
            let length = match kind {
                // End of option list: what follows is padding (RFC 9293 §3.1).
                0 => break,
                1 => 1,
                _ => rest.first().map_or(0, |&length| usize::from(length)),
            };
            let Some((option, after)) = bytes.split_at_checked(length).filter(|_| kind == 1 || length >= 2) else {
                read.is_broken = true;
                break;
            };
            read.option(kind, option.get(2..).unwrap_or_default(), flags.contains(Flags::SYN));
            bytes = after;
        }
        read
    }

    /// Reads an option. One of unknown kind, of a wrong length, or in a segment where it has no meaning is ignored.
    fn option(&mut self, kind: u8, body: &[u8], is_syn: bool) {
        let options = &mut self.options;
        match (kind, body) {
            // A value of zero is no MSS.
            (2, &[high, low]) => options.mss = NonZeroU16::new(u16::from_be_bytes([high, low])),
            // RFC 7323 §2.3: a larger shift counts as 14.
            (3, &[shift]) => options.window_scale = Some(shift.min(14)),
            (4, &[]) => options.sack_permitted = true,
            // A SYN has nothing to acknowledge selectively.
            (5, blocks) if !is_syn && blocks.len() % 8 == 0 => blocks.chunks_exact(8).for_each(|block| {
                options.sack.push(SackBlock { left: SeqNum(word(&block[..4])), right: SeqNum(word(&block[4..])) });
            }),
            (8, stamps) if stamps.len() == 8 => {
                options.timestamps = Some(Timestamps { value: word(&stamps[..4]), echo: word(&stamps[4..]) });
            }
            // RFC 2385 and RFC 5925. The signature is not verified here.
            (19, _) => self.signature = Some(Signature::Md5),
            (29, _) => self.signature = Some(Signature::Authentication),
            (FAST_OPEN, cookie) if is_syn => self.fast_open(cookie, false),
            (EXPERIMENT | OTHER_EXPERIMENT, &[high, low, ref body @ ..]) => match [high, low] {
                EXPERIMENTAL_FAST_OPEN if is_syn => self.fast_open(body, true),
                SKIP_NOTICE if kind == EXPERIMENT => {
                    options.skip_notice = parse_notice(body).or(options.skip_notice);
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn fast_open(&mut self, body: &[u8], is_experimental: bool) {
        let read = if body.is_empty() { Some(FastOpen::REQUEST) } else { FastOpen::cookie(body) };
        if let Some(fast_open) = read {
            self.options = self.options.with_fast_open(fast_open.experimental(is_experimental));
        }
    }
}

fn parse_notice(body: &[u8]) -> Option<SkipNotice> {
    match body.len() {
        0 => Some(SkipNotice::Offer),
        10 => Some(SkipNotice::Skipped {
            total: word(&body[..4]),
            first: SeqNum(word(&body[4..8])),
            segments: word(&body[8..]) as u16,
        }),
        _ => None,
    }
}

fn word(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |word, &byte| word << 8 | u32::from(byte))
}
