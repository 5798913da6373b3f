//! From a scenario's queues to the simulator's.

use earlybird_scenario::Queue;
use earlybird_sim::{
    CodelSettings, Discipline, DualPi2Settings, FqCodelSettings, PieSettings, QueueLimit, RedSettings,
};

/// Returns the most that may wait.
pub(crate) fn limit_of(queue: &Queue) -> QueueLimit {
    match queue {
        Queue::Unlimited => QueueLimit::Unlimited,
        Queue::Bytes(bytes) => QueueLimit::Bytes(*bytes),
        Queue::Packets(packets) | Queue::HeadDrop(packets) => QueueLimit::Packets(*packets),
        Queue::Red(red) => red.limit.map_or(QueueLimit::Unlimited, QueueLimit::Packets),
        Queue::Codel(codel) => QueueLimit::Packets(codel.limit),
        Queue::Pie(pie) => QueueLimit::Packets(pie.limit),
        Queue::FqCodel(fq) => QueueLimit::Packets(fq.limit),
        Queue::DualPi2(dual) => QueueLimit::Packets(dual.limit),
    }
}

/// Returns what goes when there is too much.
pub(crate) fn discipline_of(queue: &Queue) -> Discipline {
    match queue {
        Queue::Unlimited | Queue::Packets(_) | Queue::Bytes(_) => Discipline::DropTail,
        Queue::HeadDrop(_) => Discipline::DropHead,
        Queue::Red(red) => Discipline::Red(RedSettings {
            min_threshold: red.min_threshold,
            max_threshold: red.max_threshold,
            weight: red.weight.map(earlybird_scenario::Fraction::value),
            max_probability: red.max_probability.value(),
            gentle: red.gentle,
            wait: red.wait,
            adaptive: red.adaptive,
            target_delay: red.target_delay.duration(),
            mean_packet: red.mean_packet,
            ecn: red.ecn,
        }),
        Queue::Codel(codel) => Discipline::Codel(CodelSettings {
            target: codel.target.duration(),
            interval: codel.interval.duration(),
            mtu: u64::from(codel.mtu),
            ecn: codel.ecn,
        }),
        Queue::Pie(pie) => Discipline::Pie(PieSettings {
            target: pie.target.duration(),
            update: pie.update.duration(),
            burst: pie.burst.duration(),
            alpha: pie.alpha,
            beta: pie.beta,
            ecn: pie.ecn,
            mark_limit: pie.mark_limit.value(),
        }),
        Queue::FqCodel(fq) => Discipline::FqCodel(FqCodelSettings {
            flows: fq.flows,
            quantum: fq.quantum,
            codel: CodelSettings {
                target: fq.target.duration(),
                interval: fq.interval.duration(),
                mtu: u64::from(fq.mtu),
                ecn: fq.ecn,
            },
        }),
        Queue::DualPi2(dual) => Discipline::DualPi2(DualPi2Settings {
            target: dual.target.duration(),
            update: dual.update.duration(),
            alpha: dual.alpha,
            beta: dual.beta,
            coupling: dual.coupling,
            ramp_start: dual.ramp_start.duration(),
            ramp: dual.ramp.duration(),
            classic_share: dual.classic_share.value(),
        }),
    }
}
