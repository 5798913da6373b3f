//! Impairments of links: losses, outages, retransmission, jitter, reordering, duplication.

mod jitter;

use super::{ensure, known};
use crate::model::{
    Arq, Bernoulli, Channel, DropList, Duplicate, Fading, Flow, FourState, Gilbert, GilbertElliott, Jitter, Link, Loss,
    Network, Outage, Periodic, Reorder,
};
use earlybird_transport::{Fraction, ScenarioError, Time, positive};

pub(super) fn validate(network: &Network, flows: &[Flow]) -> Result<(), ScenarioError> {
    let check = |(path, channel): (String, Channel)| check_channel(&channel, &path, flows);
    channels(network).into_iter().try_for_each(check)
}

/// Returns what the network describes of each direction, with its path.
fn channels(network: &Network) -> Vec<(String, Channel)> {
    match network {
        Network::Dumbbell(dumbbell) => vec![
            ("network.dumbbell.bottleneck".to_owned(), dumbbell.bottleneck.clone()),
            ("network.dumbbell.access".to_owned(), dumbbell.access.clone()),
            ("network.dumbbell.reverse".to_owned(), dumbbell.backward()),
        ],
        Network::Links(links) => links.iter().flat_map(channels_of_link).collect(),
    }
}

fn channels_of_link(link: &Link) -> [(String, Channel); 2] {
    let path = format!("network.links.{}", link.name());
    [(path.clone(), link.forward()), (format!("{path}.reverse"), link.backward())]
}

fn check_channel(channel: &Channel, path: &str, flows: &[Flow]) -> Result<(), ScenarioError> {
    for (index, loss) in channel.loss.iter().enumerate() {
        check_loss(loss, &format!("{path}.loss.{index}.{}", loss.key()), flows)?;
    }
    for (index, outage) in channel.outages.iter().enumerate() {
        check_outage(outage, channel.trace.is_some(), &format!("{path}.outages.{index}"))?;
    }
    let arq = |rule: &Arq| check_arq(rule, &format!("{path}.arq"), flows);
    channel.arq.as_ref().map_or(Ok(()), arq)?;
    let jitter = |rule: &Jitter| jitter::check(rule, &format!("{path}.jitter"), flows);
    channel.jitter.as_ref().map_or(Ok(()), jitter)?;
    let reorder = |rule: &Reorder| check_reorder(rule, &format!("{path}.reorder"), flows);
    channel.reorder.as_ref().map_or(Ok(()), reorder)?;
    let duplicate = |rule: &Duplicate| check_duplicate(rule, &format!("{path}.duplicate"), flows);
    channel.duplicate.as_ref().map_or(Ok(()), duplicate)
}

fn check_loss(loss: &Loss, path: &str, flows: &[Flow]) -> Result<(), ScenarioError> {
    match loss {
        Loss::List(list) => check_list(list, path),
        Loss::Periodic(periodic) => check_periodic(periodic, path),
        Loss::GilbertElliott(model) => check_gilbert_elliott(model, path),
        Loss::Gilbert(gilbert) => check_gilbert(gilbert, path),
        Loss::FourState(model) => check_four_state(model, path),
        Loss::Fading(fading) => check_fading(fading, path),
        Loss::Bernoulli(rule) => check_bernoulli(rule, path),
        Loss::Policer(_) => Ok(()),
    }?;
    check_flow(loss.flow(), path, flows)
}

fn check_flow(name: Option<&str>, path: &str, flows: &[Flow]) -> Result<(), ScenarioError> {
    let Some(name) = name else { return Ok(()) };
    if flows.iter().any(|flow| flow.has_member(name)) {
        return Ok(());
    }
    let groups: Vec<_> = flows.iter().map(|flow| flow.name.clone()).collect();
    known(name, &groups, &format!("{path}.flow"), "is neither a flow nor a group of flows")
}

/// With 1 no packet would ever arrive: it is 1 % that is meant.
fn check_bernoulli(rule: &Bernoulli, path: &str) -> Result<(), ScenarioError> {
    let error = || ScenarioError::new(&format!("{path}.probability"), "loses every packet").text("1");
    ensure(rule.probability.value() < 1.0, || {
        error()
            .allowed("a number from 0 to below 1, or in percent")
            .hint("did you mean `1%`? `outages` lose every packet for a time.")
    })
}

fn check_list(list: &DropList, path: &str) -> Result<(), ScenarioError> {
    let Some(pair) = list.packets.windows(2).find(|pair| pair[1] <= pair[0]) else { return Ok(()) };
    Err(ScenarioError::new(&format!("{path}.packets"), "is not in rising order")
        .text(&format!("{}, {}", pair[0], pair[1]))
        .allowed("packet numbers in rising order, each once"))
}

fn check_periodic(periodic: &Periodic, path: &str) -> Result<(), ScenarioError> {
    let twice = || ScenarioError::new(&format!("{path}.first"), "is drawn by `random-start`");
    ensure(!periodic.random_start || periodic.first.is_none(), || twice().allowed("one of the two keys"))?;
    let error = || ScenarioError::new(&format!("{path}.burst"), "is not shorter than the period");
    ensure(periodic.burst < periodic.period, || {
        error().text(&periodic.burst.to_string()).allowed(format!("a whole number below {}", periodic.period))
    })
}

fn check_gilbert_elliott(model: &GilbertElliott, path: &str) -> Result<(), ScenarioError> {
    let changes = model.p.value() + model.r.value() > 0.0;
    let error = || ScenarioError::new(&format!("{path}.p"), "never lets the channel turn bad, as `r` is 0 too");
    ensure(changes, || error().text("0").allowed("a number above 0").hint("`bernoulli` loses without states."))
}

/// The gaps between bursts of L losses are L·(1 − P)/P packets long on average; one packet is the least.
fn check_gilbert(gilbert: &Gilbert, path: &str) -> Result<(), ScenarioError> {
    below_one(gilbert.ratio, &format!("{path}.ratio"))?;
    // Below 1, or the division would have no result.
    let ratio = gilbert.ratio.value();
    let least = ratio / (1.0 - ratio);
    let error = || ScenarioError::new(&format!("{path}.mean-burst"), "is too short for so many losses");
    ensure(gilbert.mean_burst >= least, || {
        error()
            .text(&gilbert.mean_burst.to_string())
            .allowed(format!("a number of at least {least}"))
            .hint(format!("at a `ratio` P of {ratio} bursts of P/(1 − P) packets leave one packet between them."))
    })
}

fn check_four_state(model: &FourState, path: &str) -> Result<(), ScenarioError> {
    check_transitions([("p13", model.p13), ("p14", model.p14)], path)?;
    // With netem's default for p31, beside which a given p32 may be too much.
    check_transitions([("p31", model.p31()), ("p32", model.p32)], path)?;
    let is_stuck = model.p32.value() > 0.0 && model.p23.value() == 0.0;
    let error = || ScenarioError::new(&format!("{path}.p23"), "leaves the channel in state 2 forever").text("0");
    ensure(!is_stuck, || error().allowed("a number above 0"))
}

/// Times are whole nanoseconds: spells of not many of them would feel the rounding.
fn check_fading(fading: &Fading, path: &str) -> Result<(), ScenarioError> {
    below_one(fading.ratio, &format!("{path}.ratio"))?;
    long_enough(fading.mean_fade, &format!("{path}.mean-fade"))
}

/// The ways out of one state exclude each other.
fn check_transitions([(first, one), (second, other)]: [(&str, Fraction); 2], path: &str) -> Result<(), ScenarioError> {
    let problem = format!("and `{first}`, which is {}, are more than 1 together", one.value());
    let error = || ScenarioError::new(&format!("{path}.{second}"), problem).text(&other.value().to_string());
    ensure(one.value() + other.value() <= 1.0, || error().allowed("two probabilities of at most 1 together"))
}

fn check_outage(outage: &Outage, has_trace: bool, path: &str) -> Result<(), ScenarioError> {
    long_enough(outage.duration, &format!("{path}.duration"))?;
    let trace = || ScenarioError::new(&format!("{path}.wait"), "stands beside a `trace`").text("true");
    ensure(!(outage.wait && has_trace), || trace().hint("write the outage into the trace, or leave `wait` out."))?;
    let Some(period) = outage.period else { return Ok(()) };
    let error = || ScenarioError::new(&format!("{path}.period"), "is not longer than the outage");
    ensure(period > outage.duration, || {
        error().text(&period.to_string()).allowed(format!("a duration above {}", outage.duration))
    })
}

/// The shortest time of what repeats at random or by a period: below, the rounding to whole nanoseconds would be felt.
const SHORTEST: Time = Time::from_micros(1);

fn long_enough(time: Time, path: &str) -> Result<(), ScenarioError> {
    let error = || ScenarioError::new(path, "is too short").text(&time.to_string());
    ensure(time >= SHORTEST, || error().allowed(format!("a duration of at least {SHORTEST}")))
}

fn check_arq(rule: &Arq, path: &str, flows: &[Flow]) -> Result<(), ScenarioError> {
    below_one(rule.loss, &format!("{path}.loss"))?;
    positive(rule.delay, &format!("{path}.delay"))?;
    check_flow(rule.flow.as_deref(), path, flows)
}

fn check_reorder(rule: &Reorder, path: &str, flows: &[Flow]) -> Result<(), ScenarioError> {
    positive(rule.delay, &format!("{path}.delay"))?;
    // With 1 the first random number would decide about all packets.
    below_one(rule.correlation, &format!("{path}.correlation"))?;
    check_flow(rule.flow.as_deref(), path, flows)
}

fn check_duplicate(rule: &Duplicate, path: &str, flows: &[Flow]) -> Result<(), ScenarioError> {
    below_one(rule.correlation, &format!("{path}.correlation"))?;
    check_flow(rule.flow.as_deref(), path, flows)
}

fn below_one(share: Fraction, path: &str) -> Result<(), ScenarioError> {
    let error = || ScenarioError::new(path, "is too large").text(&share.value().to_string());
    ensure(share.value() < 1.0, || error().allowed("a number from 0 to below 1"))
}
