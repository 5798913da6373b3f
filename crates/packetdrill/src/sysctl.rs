//! The sysctls of the script's network namespace.

use std::fs;

/// Reads a sysctl below `net.ipv4`.
fn read(name: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).ok()
}

/// Returns the values of a sysctl with several numbers.
pub(crate) fn values(name: &str) -> Vec<u64> {
    let text = read(name).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse::<i64>().ok()).map(|number| number.max(0) as u64).collect()
}

/// Returns the value of a sysctl.
pub(crate) fn value(name: &str, default: u64) -> u64 {
    values(name).first().copied().unwrap_or(default)
}

/// Returns whether a sysctl is enabled.
pub(crate) fn is_on(name: &str) -> bool {
    value(name, 1) != 0
}

/// Returns the Fast Open keys, newest first, in the kernel's format of 16 bytes.
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
