//! Event loop: runs a stack on a thread.

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
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// The application on top of a stack.
pub trait Application<D, C> {
    /// Handles an event of a connection.
    fn on_event(&mut self, stack: &mut Stack<D, C>, id: Id, event: Event);

    /// Is called at the end of each turn, before packets are sent. Returns `Break` to stop the loop, or the time of the next turn
    /// if nothing else happens before.
    fn on_turn(&mut self, _stack: &mut Stack<D, C>) -> ControlFlow<(), Option<Instant>> {
        ControlFlow::Continue(None)
    }

    /// Returns a descriptor, beside the device's, whose input starts a turn.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

type Task<D, C> = Box<dyn FnOnce(&mut Stack<D, C>) + Send>;

/// The largest number of tasks in the queue of a driver, from all threads together.
const TASK_LIMIT: usize = 1024;
/// The interval at which a device without a file descriptor is polled.
const POLL_INTERVAL: Duration = Duration::from_micros(100);

/// A stack and the queue of tasks for it.
pub struct Driver<D, C> {
    /// The stack.
    pub stack: Stack<D, C>,
    work: Receiver<Task<D, C>>,
    handle: Handle<D, C>,
    /// Whether the device may have packets: it was not polled, or is readable.
    may_receive: bool,
}

/// Submits tasks to a stack that runs on another thread. No method blocks.
pub struct Handle<D, C> {
    work: SyncSender<Task<D, C>>,
    wakeup: Arc<OwnedFd>,
}

impl<D, C> Clone for Handle<D, C> {
    fn clone(&self) -> Self {
        Self { work: self.work.clone(), wakeup: Arc::clone(&self.wakeup) }
    }
}

impl<D, C> Handle<D, C> {
    /// Queues `work` for the stack's next turn and wakes the thread. Returns `false` if the stack is gone or the queue is full.
    pub fn submit(&self, work: impl FnOnce(&mut Stack<D, C>) + Send + 'static) -> bool {
        let is_taken = self.work.try_send(Box::new(work)).is_ok();
        // A full eventfd counter is readable too, so that the error can be ignored.
        let _ = rustix::io::write(&self.wakeup, &1_u64.to_ne_bytes());
        is_taken
    }
}

impl<D: Device, C: Clock> Driver<D, C> {
    /// Takes a stack. Call it on the thread that will run the stack: it removes the timer slack of the calling thread.
    ///
    /// # Errors
    ///
    /// If the process is out of file descriptors.
    pub fn new(stack: Stack<D, C>) -> io::Result<Self> {
        // The default slack lets each timer fire up to 50 µs late (PR_SET_TIMERSLACK).
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
        let wakeup = Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?);
        let (sender, work) = sync_channel(TASK_LIMIT);
        Ok(Self { stack, work, handle: Handle { work: sender, wakeup }, may_receive: true })
    }

    /// Returns a handle for other threads.
    pub fn handle(&self) -> Handle<D, C> {
        self.handle.clone()
    }

    /// Runs the loop until the application breaks it.
    ///
    /// # Errors
    ///
    /// If the device fails.
    pub fn run(&mut self, application: &mut impl Application<D, C>) -> io::Result<()> {
        while let ControlFlow::Continue(latest) = self.turn(application)? {
            self.wait(latest, application.descriptor())?;
        }
        Ok(())
    }

    /// Runs one turn: receives, executes tasks, dispatches events, and transmits. Returns the time at which the application wants
    /// the next turn.
    ///
    /// # Errors
    ///
    /// If the device fails.
    pub fn turn(&mut self, application: &mut impl Application<D, C>) -> io::Result<ControlFlow<(), Option<Instant>>> {
        // Many turns start with a timer or the application: a system call that finds nothing is saved.
        if std::mem::replace(&mut self.may_receive, true) {
            self.stack.receive()?;
        } else {
            self.stack.run_due_timers();
        }
        // Bounded, so that a busy producer cannot keep the loop from transmitting.
        for work in self.work.try_iter().take(TASK_LIMIT) {
            work(&mut self.stack);
        }
        while let Some((id, event)) = self.stack.poll_event() {
            application.on_event(&mut self.stack, id, event);
        }
        // Events come first: what the application writes here leaves in the same turn.
        let next = application.on_turn(&mut self.stack);
        self.stack.transmit()?;
        Ok(next)
    }

    /// Blocks until the device or the descriptor of the application is readable, a task is queued, or a timer is due.
    fn wait(&mut self, latest: Option<Instant>, application: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let until = [self.stack.deadline(), latest].into_iter().flatten().min();
        // A deadline in the past gives a span of zero: subtraction of instants saturates.
        let span = until.map(|until| until - self.stack.clock().now());
        if span == Some(Duration::ZERO) {
            return Ok(());
        }
        let device = self.stack.device().descriptor();
        // Writability matters only while packets wait for the device; polling for it otherwise would spin.
        let arrival = if self.stack.is_congested() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let wakeup = self.handle.wakeup.as_fd();
        // The descriptor of wakeups takes the place of a missing one.
        let mut descriptors = [
            PollFd::from_borrowed_fd(wakeup, PollFlags::IN),
            PollFd::from_borrowed_fd(device.unwrap_or(wakeup), if device.is_some() { arrival } else { PollFlags::IN }),
            PollFd::from_borrowed_fd(application.unwrap_or(wakeup), PollFlags::IN),
        ];
        let span = if device.is_some() { span } else { Some(span.unwrap_or(POLL_INTERVAL).min(POLL_INTERVAL)) };
        wait_for(&mut descriptors, span)?;
        let [is_woken, is_readable, _] =
            descriptors.map(|polled| polled.revents() - PollFlags::OUT != PollFlags::empty());
        self.may_receive = is_readable || device.is_none();
        if is_woken {
            // Resets the counter.
            let _ = rustix::io::read(&self.handle.wakeup, &mut [0; 8]);
        }
        Ok(())
    }
}

fn wait_for(descriptors: &mut [PollFd<'_>], span: Option<Duration>) -> io::Result<()> {
    let span = span.map(|span| Timespec {
        tv_sec: (span.as_nanos() / 1_000_000_000).cast_signed(),
        tv_nsec: (span.as_nanos() % 1_000_000_000).cast_signed(),
    });
    match poll(descriptors, span.as_ref()) {
        // A signal ends the wait early; the loop just runs another turn.
        Err(Errno::INTR) | Ok(_) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The thread of a spawned stack, which returns the application, and a handle to the stack.
pub type Spawned<A, D, C> = (JoinHandle<io::Result<A>>, Handle<D, C>);

/// Spawns a thread, creates a stack on it, and runs the stack there until the application breaks the loop.
///
/// # Errors
///
/// If the stack or the thread cannot be created.
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
        // The caller is blocked in `recv` below.
        let _ = ready.send(driver.handle());
        driver.run(&mut application)?;
        Ok(application)
    };
    let thread = std::thread::Builder::new().name("earlybird".to_owned()).spawn(run)?;
    match is_ready.recv() {
        Ok(handle) => Ok((thread, handle)),
        Err(_) => Err(match thread.join() {
            Ok(Err(error)) => error,
            Ok(Ok(_)) | Err(_) => io::Error::other("the thread of the stack ended before the stack was ready"),
        }),
    }
}
