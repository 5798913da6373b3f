//! Threads that the system wakes on time: those of links, of hosts and of relays.

use std::marker::PhantomData;
use std::num::NonZeroU64;

/// The lowest of the priorities that come before all ordinary work (sched(7)).
const FIRST: libc::sched_param = libc::sched_param { sched_priority: 1 };

/// This thread is woken without slack, and before others where that is allowed (root, `CAP_SYS_NICE` or `RLIMIT_RTPRIO`), until
/// this is dropped. Both are wishes: what comes of them, a measurement tells.
#[derive(Debug)]
pub struct Precision {
    /// How the thread was scheduled, if that has changed.
    before: Option<(libc::c_int, libc::sched_param)>,
    /// It belongs to the thread that asked.
    _thread: PhantomData<*const ()>,
}

impl Precision {
    /// Asks for this thread.
    #[must_use = "it ends when this is dropped"]
    pub fn ask() -> Self {
        let _ = rustix::thread::set_current_timer_slack(Some(NonZeroU64::MIN));
        let before = schedule().filter(|_| set_schedule(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, FIRST));
        Self { before, _thread: PhantomData }
    }

    /// Returns whether the thread comes before ordinary work.
    pub const fn is_first(&self) -> bool {
        self.before.is_some()
    }
}

impl Drop for Precision {
    fn drop(&mut self) {
        let _ = rustix::thread::set_current_timer_slack(None);
        self.before.map(|(policy, param)| set_schedule(policy, param));
    }
}

/// Returns how this thread is scheduled.
fn schedule() -> Option<(libc::c_int, libc::sched_param)> {
    let mut param = libc::sched_param { sched_priority: 0 };
    // SAFETY: the structure lives as long as the call.
    let (policy, failed) = unsafe { (libc::sched_getscheduler(0), libc::sched_getparam(0, &raw mut param)) };
    (policy >= 0 && failed == 0).then_some((policy, param))
}

fn set_schedule(policy: libc::c_int, param: libc::sched_param) -> bool {
    // SAFETY: the structure lives as long as the call.
    unsafe { libc::sched_setscheduler(0, policy, &raw const param) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_afterwards_what_it_was() {
        let policy = || schedule().map(|(policy, param)| (policy & !libc::SCHED_RESET_ON_FORK, param.sched_priority));
        let before = policy();
        let precision = Precision::ask();
        assert_eq!(policy() == Some((libc::SCHED_FIFO, 1)), precision.is_first());
        drop(precision);
        assert_eq!(policy(), before);
    }
}
