//! A process that does something in this one's place and hands over the files that come of it.

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A process that was forked from this one.
pub(super) struct Fork;

impl Fork {
    /// Runs `act` in another process – which may leave namespaces that a process with threads may not – and gives the files that
    /// it opened there.
    ///
    /// `act` must make system calls only, and allocate nothing: another thread may have held a lock when the process forked.
    pub(super) fn run<const N: usize>(act: impl FnOnce() -> io::Result<[OwnedFd; N]>) -> io::Result<[OwnedFd; N]> {
        let (parent, child) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        // SAFETY: the child makes system calls and ends.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                let _ = send(child.as_fd(), act());
                // SAFETY: it ends at once, and runs nothing of what this process does at its end.
                unsafe { libc::_exit(0) }
            }
            process => {
                drop(child);
                let received = receive(&parent);
                // SAFETY: only the child's number is given. What it says at its end, it has said before.
                unsafe { libc::waitpid(process, std::ptr::null_mut(), 0) };
                received
            }
        }
    }
}

/// Sends the files, or the error's number.
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
    files.try_into().map_err(|_| io::Error::other("the process that makes a namespace ended without a word"))
}
