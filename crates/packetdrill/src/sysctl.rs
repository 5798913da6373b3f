//! The kernel's parameters, as the script has set them in its network namespace.

use std::fs;

/// Reads a parameter of `net.ipv4`.
fn read(name: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).ok()
}

/// Returns the numbers of a parameter.
pub(crate) fn numbers(name: &str) -> Vec<u64> {
    let text = read(name).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse::<i64>().ok()).map(|number| number.max(0) as u64).collect()
}

/// Returns a parameter of one number.
pub(crate) fn number(name: &str, otherwise: u64) -> u64 {
    numbers(name).first().copied().unwrap_or(otherwise)
}

/// Returns whether a parameter is on.
pub(crate) fn is_on(name: &str) -> bool {
    number(name, 1) != 0
}
/// Returns the keys of Fast Open's cookies, the newest first: 16 bytes each, as the kernel keeps them.
pub(crate) fn fast_open_keys() -> Vec<[u8; 16]> {
    read("tcp_fastopen_key").unwrap_or_default().trim().split(',').filter_map(parse_key).collect()
}

fn parse_key(text: &str) -> Option<[u8; 16]> {
    let mut key = [0; 16];
    let mut words = text.split('-');
    for place in key.chunks_exact_mut(4) {
        place.copy_from_slice(&u32::from_str_radix(words.next()?, 16).ok()?.to_le_bytes());
    }
    Some(key)
}
