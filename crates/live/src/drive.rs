//! A stack on a thread: it waits until there is something to do, and does it.

use crate::clock::Clock;
use crate::device::Device;
use crate::event::Event;
use crate::stack::{Id, Stack};
use earlybird_units::{Duration, Instant};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use std::io;
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// What uses a stack.
pub trait Application<D, C> {
    /// Something happened to a connection.
    fn on_event(&mut self, stack: &mut Stack<D, C>, id: Id, event: Event);

    /// A turn is about to end; says whether there is to be another one, and when at the latest.
    fn on_turn(&mut self, _stack: &mut Stack<D, C>) -> ControlFlow<(), Option<Instant>> {
        ControlFlow::Continue(None)
    }
}

type Work<D, C> = Box<dyn FnOnce(&mut Stack<D, C>) + Send>;

/// Work that waits for a stack, from all threads together.
const WORK: usize = 1024;
/// A device without a descriptor is looked at so often.
const LOOK: Duration = Duration::from_micros(100);

/// A stack with its thread.
pub struct Driver<D, C> {
    /// The stack.
    pub stack: Stack<D, C>,
    work: Receiver<Work<D, C>>,
    handle: Handle<D, C>,
}

/// Returns work to a stack on another thread. Nothing here waits.
pub struct Handle<D, C> {
    work: SyncSender<Work<D, C>>,
    bell: Arc<OwnedFd>,
}

impl<D, C> Clone for Handle<D, C> {
    fn clone(&self) -> Self {
        Self { work: self.work.clone(), bell: Arc::clone(&self.bell) }
    }
}

impl<D, C> Handle<D, C> {
    /// Has something done in the stack's next turn, which begins at once. Says whether it will be: not if the stack is gone, nor
    /// if too much waits already.
    pub fn submit(&self, work: impl FnOnce(&mut Stack<D, C>) + Send + 'static) -> bool {
        let is_taken = self.work.try_send(Box::new(work)).is_ok();
        // A counter that is full wakes all the same.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
        is_taken
    }
}

impl<D: Device, C: Clock> Driver<D, C> {
    /// Takes a stack, on the thread on which it is to run: timers of this thread are as exact as the system has them.
    ///
    /// # Errors
    ///
    /// If the system has no descriptor left.
    pub fn new(stack: Stack<D, C>) -> io::Result<Self> {
        // Otherwise every wait is up to 50 µs longer (PR_SET_TIMERSLACK).
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
        let bell = Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?);
        let (sender, work) = sync_channel(WORK);
        Ok(Self { stack, work, handle: Handle { work: sender, bell } })
    }

    /// Returns a handle for other threads.
    pub fn handle(&self) -> Handle<D, C> {
        self.handle.clone()
    }

    /// Runs until the application wants no more.
    ///
    /// # Errors
    ///
    /// If the device is gone.
    pub fn run(&mut self, application: &mut impl Application<D, C>) -> io::Result<()> {
        while let ControlFlow::Continue(latest) = self.turn(application)? {
            self.wait(latest)?;
        }
        Ok(())
    }

    /// Does what there is to do; says when the application wants to be asked again.
    ///
    /// # Errors
    ///
    /// If the device is gone.
    pub fn turn(&mut self, application: &mut impl Application<D, C>) -> io::Result<ControlFlow<(), Option<Instant>>> {
        self.stack.receive()?;
        for work in self.work.try_iter().take(WORK) {
            work(&mut self.stack);
        }
        while let Some((id, event)) = self.stack.poll_event() {
            application.on_event(&mut self.stack, id, event);
        }
        let next = application.on_turn(&mut self.stack);
        self.stack.transmit()?;
        Ok(next)
    }

    /// Waits until something arrives, somebody has work, or it is time for something.
    fn wait(&mut self, latest: Option<Instant>) -> io::Result<()> {
        let until = [self.stack.deadline(), latest].into_iter().flatten().min();
        let span = until.map(|until| until - self.stack.clock().now());
        if span == Some(Duration::ZERO) {
            return Ok(());
        }
        let arrival = if self.stack.is_congested() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let bell = PollFd::new(&self.handle.bell, PollFlags::IN);
        let woken = match self.stack.device().descriptor() {
            Some(device) => wait_for(&mut [PollFd::from_borrowed_fd(device, arrival), bell], span),
            None => wait_for(&mut [bell], Some(span.unwrap_or(LOOK).min(LOOK))),
        };
        // It rang or not: the work is looked for in any case.
        let _ = rustix::io::read(&self.handle.bell, &mut [0; 8]);
        woken
    }
}

fn wait_for(descriptors: &mut [PollFd<'_>], span: Option<Duration>) -> io::Result<()> {
    let span = span.map(|span| Timespec {
        tv_sec: (span.as_nanos() / 1_000_000_000).cast_signed(),
        tv_nsec: (span.as_nanos() % 1_000_000_000).cast_signed(),
    });
    match poll(descriptors, span.as_ref()) {
        Err(Errno::INTR) | Ok(_) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A stack on a thread of its own: the thread, which gives the application back, and a handle.
pub type Spawned<A, D, C> = (JoinHandle<io::Result<A>>, Handle<D, C>);

/// Makes a stack on a thread of its own, and runs it there until the application wants no more.
///
/// # Errors
///
/// If the stack or the thread cannot be made.
pub fn spawn<D, C, A>(
    make: impl FnOnce() -> io::Result<(Stack<D, C>, A)> + Send + 'static,
) -> io::Result<Spawned<A, D, C>>
where
    D: Device + 'static,
    C: Clock + 'static,
    A: Application<D, C> + Send + 'static,
{
    let (ready, is_ready) = sync_channel(1);
    let run = move || {
        let (stack, mut application) = make()?;
        let mut driver = Driver::new(stack)?;
        // Who called waits for it.
        let _ = ready.send(driver.handle());
        driver.run(&mut application)?;
        Ok(application)
    };
    let thread = std::thread::Builder::new().name("earlybird".to_owned()).spawn(run)?;
    match is_ready.recv() {
        Ok(handle) => Ok((thread, handle)),
        Err(_) => Err(match thread.join() {
            Ok(Err(error)) => error,
            Ok(Ok(_)) | Err(_) => io::Error::other("the stack's thread ended before it began"),
        }),
    }
}
