//! Scheduling of threads whose timing matters: those of links, stacks and relays.

use std::marker::PhantomData;
use std::num::NonZeroU64;

/// The lowest real-time priority: above all ordinary threads, below every other real-time thread (sched(7)).
const LOWEST_PRIORITY: libc::sched_param = libc::sched_param { sched_priority: 1 };

/// A scheduling policy and its parameters, as in `sched_setscheduler(2)`.
type Policy = (libc::c_int, libc::sched_param);

/// Real-time scheduling of the calling thread until this value is dropped.
///
/// The thread gets timers without slack, and the policy `SCHED_FIFO` where the process is allowed to set it (root,
/// `CAP_SYS_NICE` or `RLIMIT_RTPRIO`). Neither is guaranteed: measure the delay where it matters.
#[derive(Debug)]
pub struct RealtimePriority {
    /// The policy to restore; `None` if it was not changed.
    previous: Option<Policy>,
    /// Not `Send`: the policy belongs to the thread that requested it.
    _thread: PhantomData<*const ()>,
}

impl RealtimePriority {
    /// Requests it for the calling thread.
    #[must_use = "the priority is reset when this is dropped"]
    pub fn request() -> Self {
        // The default slack lets a timer fire 50 µs late (PR_SET_TIMERSLACK). A kernel that refuses still works.
        let _ = rustix::thread::set_current_timer_slack(Some(NonZeroU64::MIN));
        // Programs that the thread starts must not inherit the priority, hence SCHED_RESET_ON_FORK.
        let previous = policy().filter(|_| set_policy(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, LOWEST_PRIORITY));
        Self { previous, _thread: PhantomData }
    }

    /// Returns whether the kernel granted the priority.
    pub const fn is_granted(&self) -> bool {
        self.previous.is_some()
    }
}

impl Drop for RealtimePriority {
    fn drop(&mut self) {
        let _ = rustix::thread::set_current_timer_slack(None);
        self.previous.map(|(policy, param)| set_policy(policy, param));
    }
}

/// Returns the scheduling policy of the calling thread.
fn policy() -> Option<Policy> {
    let mut param = libc::sched_param { sched_priority: 0 };
    // SAFETY: the structure lives as long as the call. Thread 0 is the calling one.
    let (policy, failed) = unsafe { (libc::sched_getscheduler(0), libc::sched_getparam(0, &raw mut param)) };
    (policy >= 0 && failed == 0).then_some((policy, param))
}

fn set_policy(policy: libc::c_int, param: libc::sched_param) -> bool {
    // SAFETY: the structure lives as long as the call.
    unsafe { libc::sched_setscheduler(0, policy, &raw const param) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drop_restores_the_policy() {
        let current = || policy().map(|(policy, param)| (policy & !libc::SCHED_RESET_ON_FORK, param.sched_priority));
        let before = current();
        let priority = RealtimePriority::request();
        assert_eq!(current() == Some((libc::SCHED_FIFO, 1)), priority.is_granted());
        drop(priority);
        assert_eq!(current(), before);
    }
}
