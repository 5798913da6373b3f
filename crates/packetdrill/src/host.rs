//! The host and its virtual clock, which only advances when packetdrill sleeps or waits.
//!
//! packetdrill has two threads: one runs the script, the other makes calls that the script expects to block. A call that is woken
//! must read the clock before it advances again; so the thread that advances the clock waits for that.

use crate::handoff::Handoff;
use crate::host_state::HostState;
use crate::syscall::{Attempt, SyscallResult};
use crate::time::Micros;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// The state, and the condition variable of its changes.
pub(crate) struct Host {
    state: Mutex<HostState>,
    changed: Condvar,
    /// The thread that runs the script.
    script_thread: ThreadId,
}

/// A packet that does not arrive within this time never will: longer than any script waits.
const GIVE_UP_AFTER: Micros = 300_000_000;
/// packetdrill sleeps until so long before an event, and then spins.
const SPIN: Micros = 20;

impl Host {
    pub(crate) fn new(flags: &str) -> Self {
        Self {
            state: Mutex::new(HostState::new(flags)),
            changed: Condvar::new(),
            script_thread: thread::current().id(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, HostState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies a command of the script to the state.
    pub(crate) fn on_command(&self, command: &str) {
        self.lock().on_command(command);
    }

    /// Makes a call that does not block.
    pub(crate) fn call<T>(&self, call: impl FnOnce(&mut HostState) -> SyscallResult<T>) -> SyscallResult<T> {
        let mut state = self.lock();
        let answer = call(&mut state);
        state.transmit();
        answer
    }

    /// Makes a call that may block: it is attempted again after each event.
    pub(crate) fn wait<T>(&self, mut attempt: impl FnMut(&mut HostState) -> Attempt<T>) -> SyscallResult<T> {
        let mut state = self.lock();
        // A call that returns at once does not take part in the handoff.
        let mut has_waited = false;
        let give_up_at = state.now() + GIVE_UP_AFTER;
        loop {
            let step = attempt(&mut state);
            state.transmit();
            let deadline = match step {
                Attempt::Done(answer) => {
                    // The script's own thread advances the clock itself and needs no handoff.
                    if !self.is_script_thread() {
                        state.handoff = Handoff { is_returning: has_waited, ..Handoff::default() };
                        self.changed.notify_all();
                    }
                    return answer;
                }
                Attempt::Block(deadline) => deadline,
            };
            has_waited = true;
            state = if self.is_script_thread() {
                Self::advance_to_next(state, deadline, give_up_at)?
            } else {
                self.park(state, deadline)
            };
        }
    }

    fn is_script_thread(&self) -> bool {
        thread::current().id() == self.script_thread
    }

    /// Blocks the calling thread until the script's thread reports an event.
    fn park<'a>(&self, mut state: MutexGuard<'a, HostState>, wake_at: Option<Micros>) -> MutexGuard<'a, HostState> {
        state.handoff = Handoff { is_waiting: true, wake_at, ..Handoff::default() };
        self.changed.notify_all();
        self.changed.wait_while(state, |state| !state.handoff.has_event).unwrap_or_else(PoisonError::into_inner)
    }

    /// Advances the clock to the next event, for a call that blocks the script's own thread.
    fn advance_to_next(
        mut state: MutexGuard<'_, HostState>,
        deadline: Option<Micros>,
        give_up_at: Micros,
    ) -> SyscallResult<MutexGuard<'_, HostState>> {
        let next = [deadline, state.next_deadline()].into_iter().flatten().min();
        // Nothing will ever happen: fail the call instead of hanging the script.
        let Some(next) = next.filter(|next| *next <= give_up_at) else { return Err(libc::EINTR) };
        state.move_clock(next);
        Ok(state)
    }

    /// Wakes the blocked call, and waits until it blocks again or has read the clock.
    fn sync<'a>(&self, mut state: MutexGuard<'a, HostState>) -> MutexGuard<'a, HostState> {
        if state.handoff.is_waiting {
            state.handoff.has_event = true;
            self.changed.notify_all();
        }
        self.changed
            .wait_while(state, |state| {
                state.handoff.is_returning || (state.handoff.is_waiting && state.handoff.has_event)
            })
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Advances the clock, event by event.
    fn advance<'a>(&self, mut state: MutexGuard<'a, HostState>, to: Micros) -> MutexGuard<'a, HostState> {
        while let Some(next) = state.next_event().filter(|next| *next <= to) {
            state.move_clock(next);
            state = self.sync(state);
        }
        state.move_clock(to);
        state
    }

    /// Processes a packet that the script injects.
    pub(crate) fn inject(&self, packet: &[u8]) {
        let mut state = self.lock();
        // Without transmitting yet: see below.
        state.receive(packet);
        // A blocked writer goes first, so that its data carries the ACK.
        let mut state = self.sync(state);
        state.transmit();
        state.expand_send_buffer();
        drop(self.sync(state));
    }

    /// Returns the next transmitted packet and its time.
    pub(crate) fn next_packet(&self) -> Option<(Micros, Vec<u8>)> {
        let mut state = self.lock();
        let give_up_at = state.now() + GIVE_UP_AFTER;
        loop {
            if let Some(packet) = state.take_outgoing() {
                return Some(packet);
            }
            let next = state.next_event().filter(|next| *next <= give_up_at)?;
            state = self.advance(state, next);
        }
    }

    /// Advances the clock by a sleep, plus the time that packetdrill would spin.
    pub(crate) fn sleep(&self, micros: Micros) {
        let mut state = self.lock();
        if core::mem::take(&mut state.handoff.has_returned) {
            // packetdrill's own lock is free only while this thread sleeps in real time: the other thread needs it to report the
            // result of its call.
            drop(state);
            // In real time, far longer than the other thread needs for its lock.
            thread::sleep(Duration::from_millis(3));
            state = self.lock();
        }
        let to = state.now() + micros + SPIN;
        drop(self.advance(state, to));
    }

    /// Reads the clock. Each reading advances it by a microsecond, so that a spinning caller makes progress; but not for a call
    /// that was just woken.
    pub(crate) fn read_clock(&self) -> Micros {
        let mut state = self.lock();
        if !self.is_script_thread() && state.handoff.is_returning {
            state.handoff.is_returning = false;
            state.handoff.has_returned = true;
            self.changed.notify_all();
            return state.now();
        }
        let to = state.now() + 1;
        self.advance(state, to).now()
    }
}
