//! The host and its virtual clock: time passes when packetdrill sleeps, and not otherwise.
//!
//! packetdrill has two threads: one runs the script, the other makes the calls that the script expects to block. A call
//! that is woken must read the clock before time goes on, so whoever moves the clock waits for that.

use crate::calls::Answer;
use crate::world::{Micros, World};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// What an attempt at a call gave.
pub(crate) enum Step<T> {
    /// The call is done.
    Done(Answer<T>),
    /// It must wait: for something to happen, and not beyond this time.
    Block(Option<Micros>),
}

/// All state, and who waits for it to change.
pub(crate) struct Host {
    world: Mutex<World>,
    changed: Condvar,
    /// The thread that runs the script.
    runner: ThreadId,
}

/// How the thread of a blocking call and the one that moves the clock take turns.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// A call is blocked.
    is_waiting: bool,
    /// When it gives up.
    wake_at: Option<Micros>,
    /// Something has happened since it looked.
    is_news: bool,
    /// A call was woken and is on its way back: it has not read the clock yet.
    is_returning: bool,
    /// A call has come back, and has not told packetdrill yet.
    has_returned: bool,
}

impl Turns {
    pub(crate) fn wake_at(&self) -> Option<Micros> {
        self.wake_at
    }
}

/// A packet that has not come after so much time will not come: longer than any script waits.
const PATIENCE: Micros = 300_000_000;
/// packetdrill sleeps up to so long before an event, and spins for the rest.
const SPIN: Micros = 20;

impl Host {
    pub(crate) fn new(flags: &str) -> Self {
        Self { world: Mutex::new(World::new(flags)), changed: Condvar::new(), runner: thread::current().id() }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a command of the script change what this host keeps.
    pub(crate) fn note_command(&self, command: &str) {
        self.lock().note_command(command);
    }

    /// Makes a call that does not block.
    pub(crate) fn call<T>(&self, call: impl FnOnce(&mut World) -> Answer<T>) -> Answer<T> {
        let mut world = self.lock();
        let answer = call(&mut world);
        world.transmit();
        answer
    }

    /// Makes a call that may have to wait: it is attempted again whenever something has happened.
    pub(crate) fn wait<T>(&self, mut attempt: impl FnMut(&mut World) -> Step<T>) -> Answer<T> {
        let mut world = self.lock();
        let mut has_waited = false;
        let patience = world.now() + PATIENCE;
        loop {
            let step = attempt(&mut world);
            world.transmit();
            let deadline = match step {
                Step::Done(answer) => {
                    if !self.is_runner() {
                        world.turns = Turns { is_returning: has_waited, ..Turns::default() };
                        self.changed.notify_all();
                    }
                    return answer;
                }
                Step::Block(deadline) => deadline,
            };
            has_waited = true;
            world = if self.is_runner() {
                Self::pass_until_news(world, deadline, patience)?
            } else {
                self.park(world, deadline)
            };
        }
    }

    fn is_runner(&self) -> bool {
        thread::current().id() == self.runner
    }

    /// Waits for the other thread to make something happen.
    fn park<'a>(&self, mut world: MutexGuard<'a, World>, wake_at: Option<Micros>) -> MutexGuard<'a, World> {
        world.turns = Turns { is_waiting: true, wake_at, ..Turns::default() };
        self.changed.notify_all();
        self.changed.wait_while(world, |world| !world.turns.is_news).unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread that moves the clock blocks: it moves the clock to whatever comes next.
    fn pass_until_news(
        mut world: MutexGuard<'_, World>,
        deadline: Option<Micros>,
        patience: Micros,
    ) -> Answer<MutexGuard<'_, World>> {
        let next = [deadline, world.next_deadline()].into_iter().flatten().min();
        let Some(next) = next.filter(|next| *next <= patience) else { return Err(libc::EINTR) };
        world.move_clock(next);
        Ok(world)
    }

    /// Lets a blocked call look at what has happened, and waits until it blocks again or has read the clock.
    fn settle<'a>(&self, mut world: MutexGuard<'a, World>) -> MutexGuard<'a, World> {
        if world.turns.is_waiting {
            world.turns.is_news = true;
            self.changed.notify_all();
        }
        self.changed
            .wait_while(world, |world| world.turns.is_returning || (world.turns.is_waiting && world.turns.is_news))
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets time pass, and everything happen that falls due.
    fn advance<'a>(&self, mut world: MutexGuard<'a, World>, to: Micros) -> MutexGuard<'a, World> {
        while let Some(next) = world.next_event().filter(|next| *next <= to) {
            world.move_clock(next);
            world = self.settle(world);
        }
        world.move_clock(to);
        world
    }

    /// A packet of the script's arrives.
    pub(crate) fn inject(&self, packet: &[u8]) {
        let mut world = self.lock();
        world.receive(packet);
        // Whoever waits to write goes first: the ACK leaves with what it writes.
        let mut world = self.settle(world);
        world.transmit();
        world.make_room();
        drop(self.settle(world));
    }

    /// Returns the next packet that leaves, and when it left.
    pub(crate) fn sniff(&self) -> Option<(Micros, Vec<u8>)> {
        let mut world = self.lock();
        let patience = world.now() + PATIENCE;
        loop {
            if let Some(packet) = world.take_outgoing() {
                return Some(packet);
            }
            let next = world.next_event().filter(|next| *next <= patience)?;
            world = self.advance(world, next);
        }
    }

    /// Lets time pass: over the end of the sleep by what packetdrill would spin.
    pub(crate) fn sleep(&self, micros: Micros) {
        let mut world = self.lock();
        if core::mem::take(&mut world.turns.has_returned) {
            // packetdrill's lock is free while this thread sleeps: the other one takes it to tell what its call gave.
            drop(world);
            thread::sleep(Duration::from_millis(3));
            world = self.lock();
        }
        let to = world.now() + micros + SPIN;
        drop(self.advance(world, to));
    }

    /// Reads the clock. It moves on by a microsecond with each reading, so that whoever spins gets somewhere; but not for a
    /// call that was just woken.
    pub(crate) fn read_clock(&self) -> Micros {
        let mut world = self.lock();
        if !self.is_runner() && world.turns.is_returning {
            world.turns.is_returning = false;
            world.turns.has_returned = true;
            self.changed.notify_all();
            return world.now();
        }
        let to = world.now() + 1;
        self.advance(world, to).now()
    }
}
