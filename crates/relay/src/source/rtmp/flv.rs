//! The file format of RTMP's messages (Adobe, "Video File Format Specification", version 10.1, annex E), which `FFmpeg` reads.

/// Types of tags (E.4.1).
const AUDIO: u8 = 8;
const VIDEO: u8 = 9;

/// A kind of media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    Audio,
    Video,
}

/// Returns the header of a file and the size of the tag before the first one (E.2, E.3).
pub(super) fn header(has_audio: bool, has_video: bool) -> Vec<u8> {
    let flags = u8::from(has_audio) << 2 | u8::from(has_video);
    [&b"FLV\x01"[..], &[flags], &[0, 0, 0, 9], &[0; 4]].concat()
}

/// Returns a tag with its size (E.4.1). The time is in milliseconds.
pub(super) fn tag(media: Media, time: u32, data: &[u8]) -> Vec<u8> {
    let kind = if media == Media::Audio { AUDIO } else { VIDEO };
    let [_, size @ ..] = (data.len() as u32).to_be_bytes();
    let [high, low @ ..] = time.to_be_bytes();
    let mut tag = [&[kind][..], &size, &low, &[high], &[0; 3], data].concat();
    tag.extend((tag.len() as u32).to_be_bytes());
    tag
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_their_size_twice_and_times_of_32_bits() {
        assert_eq!(header(true, true), *b"FLV\x01\x05\0\0\0\x09\0\0\0\0");
        assert_eq!(tag(Media::Video, 0x0102_0304, b"av"), [9, 0, 0, 2, 2, 3, 4, 1, 0, 0, 0, b'a', b'v', 0, 0, 0, 13]);
        assert_eq!(tag(Media::Audio, 0, b"")[0], 8);
    }
}
