//! The kernel's TCP.

use crate::Result;
use earlybird_live::device::Tun;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

const PORT: u16 = 4201;
/// Bytes of a write or a read.
const BLOCK: usize = 1 << 17;

/// Reads to the end; gives how many bytes that were.
pub(crate) fn drain(mut peer: TcpStream) -> u64 {
    let (mut buffer, mut read) = (vec![0; BLOCK], 0);
    while let count @ 1.. = peer.read(&mut buffer).expect("it is read") {
        read += count as u64;
    }
    read
}

/// Writes so many bytes.
pub(crate) fn fill(mut peer: TcpStream, bytes: u64) {
    let buffer = vec![7; BLOCK];
    let mut rest = bytes;
    while rest > 0 {
        let count = rest.min(BLOCK as u64);
        peer.write_all(&buffer[..count as usize]).expect("it is written");
        rest -= count;
    }
}

/// Runs something in a network of its own, which goes with it.
pub(crate) fn in_a_network<T: Send + 'static>(act: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let thread = thread::spawn(move || {
        // SAFETY: only the network namespace is left; no descriptor and no memory is shared differently afterwards.
        unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.map_err(|error| error.to_string())?;
        act().map_err(|error| error.to_string())
    });
    Ok(thread.join().map_err(|_| "it failed")??)
}

pub(crate) fn over_loopback(bytes: u64) -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let peer = TcpStream::connect(listener.local_addr()?)?;
    let (other, _) = listener.accept()?;
    let reader = thread::spawn(move || drain(other));
    fill(peer, bytes);
    assert_eq!(reader.join().map_err(|_| "the reader failed")?, bytes);
    Ok(())
}

/// Makes a device of a host in this network.
fn device(host: u8) -> Result<OwnedFd> {
    let device = Tun::new("kernel", 1500)?;
    Tun::add_address("kernel", IpAddr::from([10, 77, 0, host]), 24)?;
    Ok(device.into_descriptor())
}

/// Two networks, between whose devices a thread carries packets as they are: joined by the kernel, and without checksums.
pub(crate) fn over_tun(bytes: u64) -> Result<()> {
    let (devices, is_over) = (mpsc::channel(), Arc::<AtomicBool>::default());
    let (ready, is_ready) = mpsc::channel();
    let first = devices.0.clone();
    let reader = thread::spawn(move || {
        in_a_network(move || {
            first.send(device(1)?)?;
            let listener = TcpListener::bind(("10.77.0.1", PORT))?;
            ready.send(())?;
            Ok(drain(listener.accept()?.0))
        })
        .map_err(|error| error.to_string())
    });
    is_ready.recv()?;
    let second = devices.0;
    let writer = thread::spawn(move || {
        in_a_network(move || {
            second.send(device(2)?)?;
            fill(TcpStream::connect(("10.77.0.1", PORT))?, bytes);
            Ok(())
        })
        .map_err(|error| error.to_string())
    });
    let devices = [devices.1.recv()?, devices.1.recv()?];
    let until = Arc::clone(&is_over);
    let carrier = thread::spawn(move || carry(&devices, &until));
    writer.join().map_err(|_| "the writer failed")??;
    assert_eq!(reader.join().map_err(|_| "the reader failed")??, bytes);
    is_over.store(true, Ordering::Relaxed);
    carrier.join().map_err(|_| "the carrier failed")?;
    Ok(())
}

fn carry(devices: &[OwnedFd; 2], is_over: &AtomicBool) {
    let mut buffer = vec![0; 1 << 17];
    while !is_over.load(Ordering::Relaxed) {
        let mut count = 0;
        for (from, to) in [(0, 1), (1, 0)] {
            count += carry_batch(&devices[from], &devices[to], &mut buffer);
        }
        if count == 0 {
            let mut ready = devices.each_ref().map(|device| PollFd::new(device, PollFlags::IN));
            let briefly = rustix::event::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            poll(&mut ready, Some(&briefly)).expect("it waits");
        }
    }
}

/// Carries what waits; gives how many packets that were.
fn carry_batch(from: &OwnedFd, to: &OwnedFd, buffer: &mut [u8]) -> usize {
    for count in 0..64 {
        match rustix::io::read(from, &mut *buffer) {
            // What the other one does not take is a loss.
            Ok(len) => drop(rustix::io::write(to, &buffer[..len])),
            Err(Errno::AGAIN) => return count,
            Err(error) => panic!("a device failed: {error}"),
        }
    }
    64
}
