//! Losses, outages, retransmission, jitter, reordering and duplication of a link, from scenario to simulator.

use earlybird_scenario::{
    Arq as ArqModel, Channel, Fraction, Jitter as JitterModel, JitterDistribution, Loss as LossModel, Periodic, Time,
};
use earlybird_sim::{
    Arq, ArqSettings, CorrelatedBernoulli, DelayCorrelation, DelayDistribution, DelaySpikes, Duplication, Fading,
    FourState, GilbertElliott, Impairments, Jitter, JitterSettings, Loss, LossRule, Outage, Outages, PacketFilter,
    Policer, Reordering,
};
use earlybird_units::{Instant, SeedTree};

/// Finds the packets to which a rule applies, by the name of a flow or group.
pub(crate) type FilterOf<'a> = &'a dyn Fn(Option<&str>) -> PacketFilter;

pub(crate) fn losses_of(filter_of: FilterOf<'_>, channel: &Channel, seeds: SeedTree) -> Vec<Loss> {
    let rules = (0..).zip(&channel.loss).map(|(index, model)| loss_of(filter_of, model, seeds.nth(index)));
    rules.chain(outage_losses(channel, seeds)).chain(residual_losses(filter_of, channel, seeds)).collect()
}

/// Returns the rule for packets that arrive in an outage and do not wait.
fn outage_losses(channel: &Channel, seeds: SeedTree) -> Option<Loss> {
    let outages = outages_of(channel, false);
    // It draws nothing.
    (!outages.is_empty()).then(|| Loss::new(LossRule::Outage(outages), seeds.child("outages").random()))
}

/// Returns the rule for packets that the link's retransmissions give up.
fn residual_losses(filter_of: FilterOf<'_>, channel: &Channel, seeds: SeedTree) -> Option<Loss> {
    let rule = channel.arq.as_ref()?;
    let probability = Arq::residual_loss(rule.loss.value(), rule.retries);
    let random = seeds.child("arq").child("loss").random();
    Some(Loss { filter: filter_of(rule.flow.as_deref()), ..Loss::new(LossRule::Bernoulli(probability), random) })
}

/// Returns the outages of a link in which packets wait, or those in which they are lost.
pub(crate) fn outages_of(channel: &Channel, wait: bool) -> Outages {
    let chosen = channel.outages.iter().filter(|outage| outage.wait == wait);
    Outages::new(chosen.map(|outage| Outage {
        start: Instant::ZERO + outage.start.duration(),
        duration: outage.duration.duration(),
        period: outage.period.map(Time::duration),
    }))
}

fn loss_of(filter_of: FilterOf<'_>, model: &LossModel, seeds: SeedTree) -> Loss {
    Loss { filter: filter_of(model.flow()), ..Loss::new(rule_of(model, seeds), seeds.random()) }
}

fn rule_of(model: &LossModel, seeds: SeedTree) -> LossRule {
    match model {
        LossModel::List(list) => LossRule::List(list.packets.clone()),
        LossModel::Bernoulli(bernoulli) => LossRule::Bernoulli(bernoulli.probability.value()),
        LossModel::Periodic(periodic) => LossRule::Periodic {
            first: first_of(periodic, seeds),
            period: periodic.period,
            burst: periodic.burst,
            bursts: periodic.bursts.unwrap_or(u64::MAX),
        },
        LossModel::GilbertElliott(model) => {
            let [p, r, bad, good] = [model.p, model.r, model.loss_in_bad, model.loss_in_good].map(Fraction::value);
            LossRule::GilbertElliott(GilbertElliott::new(p, r, bad, good))
        }
        LossModel::Gilbert(gilbert) => {
            LossRule::GilbertElliott(GilbertElliott::with_bursts(gilbert.ratio.value(), gilbert.mean_burst))
        }
        LossModel::FourState(model) => {
            let [p13, p31, p32, p23, p14] =
                [model.p13, model.p31(), model.p32, model.p23, model.p14].map(Fraction::value);
            LossRule::FourState(FourState::new(p13, p31, p32, p23, p14))
        }
        LossModel::Policer(policer) => LossRule::Policer(Policer::new(policer.rate.rate(), policer.burst)),
        LossModel::Fading(fading) => LossRule::Fading(Fading::new(fading.ratio.value(), fading.mean_fade.duration())),
    }
}

/// Returns the number of the first packet lost. Number 0, which opens a lone flow's connection, is spared by a random start.
fn first_of(periodic: &Periodic, seeds: SeedTree) -> u64 {
    if periodic.random_start {
        // Packet 0 is the SYN.
        return 1 + seeds.child("start").random().below(periodic.period.max(2) - 1);
    }
    periodic.first.unwrap_or(periodic.period)
}

pub(crate) fn impairments_of(filter_of: FilterOf<'_>, channel: &Channel, seeds: SeedTree) -> Impairments {
    let reordering = channel.reorder.as_ref().map(|rule| Reordering {
        chance: chance_of(rule.probability, rule.correlation, seeds.child("reorder")),
        filter: filter_of(rule.flow.as_deref()),
        delay: rule.delay.duration(),
        packets: rule.packets,
    });
    let duplication = channel.duplicate.as_ref().map(|rule| Duplication {
        chance: chance_of(rule.probability, rule.correlation, seeds.child("duplicate")),
        filter: filter_of(rule.flow.as_deref()),
    });
    let jitter = channel.jitter.as_ref().map(|rule| jitter_of(filter_of, rule, seeds.child("jitter")));
    let arq = channel.arq.as_ref().map(|rule| arq_of(filter_of, rule, seeds.child("arq")));
    Impairments::new(reordering, duplication).with_jitter(jitter).with_arq(arq)
}

fn arq_of(filter_of: FilterOf<'_>, rule: &ArqModel, seeds: SeedTree) -> Arq {
    Arq::new(ArqSettings {
        loss: rule.loss.value(),
        retries: rule.retries,
        delay: rule.delay.duration(),
        reorders: rule.reorder,
        filter: filter_of(rule.flow.as_deref()),
        random: seeds.random(),
    })
}

fn jitter_of(filter_of: FilterOf<'_>, rule: &JitterModel, seeds: SeedTree) -> Jitter {
    let spikes = rule.spikes.map(|spikes| DelaySpikes {
        times: Fading::new(spikes.ratio.value(), spikes.mean_duration.duration()),
        delay: spikes.delay.duration(),
        random: seeds.child("spikes").random(),
    });
    let per_packet = || DelayCorrelation::PerPacket(rule.correlation.value());
    Jitter::new(JitterSettings {
        distribution: rule.distribution.as_ref().map_or(DelayDistribution::Zero, distribution_of),
        correlation: rule.correlation_time.map_or_else(per_packet, |time| DelayCorrelation::OverTime(time.duration())),
        spikes,
        reorders: rule.reorder,
        filter: filter_of(rule.flow.as_deref()),
        random: seeds.random(),
    })
}

fn distribution_of(distribution: &JitterDistribution) -> DelayDistribution {
    match distribution {
        JitterDistribution::Uniform(max) => DelayDistribution::Uniform(max.duration()),
        JitterDistribution::Normal(normal) => {
            DelayDistribution::Normal { mean: normal.mean.duration(), deviation: normal.deviation.duration() }
        }
        JitterDistribution::Exponential(mean) => DelayDistribution::Exponential(mean.duration()),
        JitterDistribution::Pareto(pareto) => {
            DelayDistribution::Pareto { mean: pareto.mean.duration(), shape: pareto.shape }
        }
        JitterDistribution::Quantiles(times) => {
            DelayDistribution::Quantiles(times.iter().map(|time| time.duration()).collect())
        }
    }
}

fn chance_of(probability: Fraction, correlation: Fraction, seeds: SeedTree) -> CorrelatedBernoulli {
    CorrelatedBernoulli::new(probability.value(), correlation.value(), seeds.random())
}
