//! Runs code in a forked process that returns file descriptors.

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A forked process.
pub(super) struct Fork;

impl Fork {
    /// Runs `act` in a forked process, which can change namespaces where a multi-threaded process cannot. Returns the files that
    /// it opened there.
    ///
    /// `act` must only make system calls and must not allocate: another thread may hold the allocator's lock at the time of the
    /// fork.
    pub(super) fn run<const N: usize>(act: impl FnOnce() -> io::Result<[OwnedFd; N]>) -> io::Result<[OwnedFd; N]> {
        let (parent, child) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        // SAFETY: the child makes system calls and ends.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                let _ = send(child.as_fd(), act());
                // SAFETY: ends the process at once, without exit handlers of the parent.
                unsafe { libc::_exit(0) }
            }
            process => {
                drop(child);
                let received = receive(&parent);
                // SAFETY: only the number of the child is passed. Its status is not needed, as the result came through the
                // socket.
                unsafe { libc::waitpid(process, std::ptr::null_mut(), 0) };
                received
            }
        }
    }
}

/// Sends the files, or the error number.
fn send<const N: usize>(to: BorrowedFd<'_>, files: io::Result<[OwnedFd; N]>) -> io::Result<()> {
    let (code, files) = match files {
        Ok(files) => (0, Some(files)),
        Err(error) => (error.raw_os_error().unwrap_or(libc::EIO), None),
    };
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let borrowed = files.as_ref().map(|files| files.each_ref().map(AsFd::as_fd));
    if let Some(files) = &borrowed {
        control.push(SendAncillaryMessage::ScmRights(files));
    }
    sendmsg(to, &[IoSlice::new(&code.to_ne_bytes())], &mut control, SendFlags::empty())?;
    Ok(())
}

fn receive<const N: usize>(from: &OwnedFd) -> io::Result<[OwnedFd; N]> {
    let mut code = [0; size_of::<i32>()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    recvmsg(from, &mut [IoSliceMut::new(&mut code)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let code = i32::from_ne_bytes(code);
    if code != 0 {
        return Err(io::Error::from_raw_os_error(code));
    }
    let files = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    let files: Vec<OwnedFd> = files.flatten().collect();
    files.try_into().map_err(|_| io::Error::other("the process that creates a namespace ended without a result"))
}
