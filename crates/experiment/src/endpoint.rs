//! From a scenario's endpoint settings to a connection's configuration: the profile fills what was left open.

mod cubic;
mod pert;
pub(crate) mod real_time;

use earlybird_datagram as datagram;
use earlybird_datagram::srt;
use earlybird_scenario as scenario;
use earlybird_scenario::{Endpoint, Flow, Profile};
use earlybird_sim::{Carrier, DatagramSettings, EndpointSettings, HeaderSize};
use earlybird_tcp::{
    Acking, AgeReference, BbrParameters, Config, Control, EcnMode, NewRenoFlags, PragueParameters, RackConfig,
    ReceiveBuffer, Recovery, Restart, RtoConfig, Segmentation, SpuriousDetection, TolerantParameters, Trigger, Undo,
    VegasParameters, WindowReduction,
};
use earlybird_units::Duration;

/// Gives what carries a flow.
pub(crate) fn carrier_of(endpoint: &Endpoint, flow: &Flow) -> Carrier {
    if endpoint.transport.control.is_datagram() {
        Carrier::Datagrams(datagrams_of(endpoint, flow))
    } else {
        Carrier::Tcp(settings_of(endpoint, flow))
    }
}

fn datagrams_of(endpoint: &Endpoint, flow: &Flow) -> DatagramSettings {
    let base = base_of(endpoint.profile);
    DatagramSettings {
        config: datagram::Config {
            control: match endpoint.transport.control {
                scenario::Control::Tfrc => datagram::Control::Tfrc,
                scenario::Control::Srt => datagram::Control::Srt(srt_parameters(endpoint, flow)),
                _ => datagram::Control::Udp,
            },
            mss: endpoint.mss.unwrap_or(base.mss),
            ecn: uses_ecn(endpoint),
        },
        headers: headers_of(endpoint),
    }
}

fn srt_parameters(endpoint: &Endpoint, flow: &Flow) -> srt::Parameters {
    let (srt, draft) = (&endpoint.srt, srt::Parameters::DEFAULT);
    let fixed = || srt.latency.map_or(draft.latency, |latency| srt::Latency::Fixed(latency.duration()));
    let latency = if srt.fit_playback_delay {
        let delay = real_time::playback_delay(endpoint.transport.control, flow);
        srt::Latency::FromWriting(delay.saturating_sub(Duration::from_millis(1)))
    } else {
        srt.latency_round_trips.map_or_else(fixed, srt::Latency::RoundTrips)
    };
    srt::Parameters { latency, overhead: srt.overhead.map(scenario::Fraction::value).or(draft.overhead) }
}

fn headers_of(endpoint: &Endpoint) -> HeaderSize {
    match (endpoint.profile, endpoint.transport.control) {
        (Profile::Ns2, scenario::Control::Vegas) => HeaderSize::Ns2Vegas,
        (Profile::Ns2, _) => HeaderSize::Ns2,
        (Profile::Rfc, _) => HeaderSize::Real,
    }
}

/// Gives the settings of both ends of a flow's connections.
fn settings_of(endpoint: &Endpoint, flow: &Flow) -> EndpointSettings {
    let deadline = real_time::playback_delay(endpoint.transport.control, flow);
    let opener = Config { real_time: real_time::mode_of(endpoint, flow), ..config_of(endpoint, deadline) };
    let is_ns2 = endpoint.profile == Profile::Ns2;
    EndpointSettings {
        opener,
        listener: if is_ns2 { sink_of(opener) } else { opener },
        headers: headers_of(endpoint),
        closes_with_fin: !is_ns2,
    }
}

/// ns-2's sinks have no window and no retransmission timer: only the opener repeats a handshake.
fn sink_of(opener: Config) -> Config {
    let rto = RtoConfig { initial: Duration::MAX, ceiling: Duration::MAX, ..opener.rto };
    Config { control: Control::Reno, rto, ..opener }
}

fn base_of(profile: Profile) -> Config {
    match profile {
        Profile::Ns2 => Config::ns2(),
        Profile::Rfc => Config::rfc(),
    }
}

fn config_of(endpoint: &Endpoint, deadline: Duration) -> Config {
    let is_own = endpoint.transport.control == scenario::Control::EarlybirdRt;
    let base = if is_own { Config::earlybird_rt(deadline) } else { base_of(endpoint.profile) };
    let mss = endpoint.mss.unwrap_or(base.mss);
    let initial_window = match endpoint.profile {
        Profile::Rfc if !is_own => rfc3390_window(mss),
        _ => base.initial_window,
    };
    let recovery = recovery_of(endpoint, base.recovery);
    Config {
        mss,
        segmentation: Segmentation::Simulated,
        window: endpoint.window.unwrap_or(base.window),
        receive_buffer: endpoint.receive_buffer.map_or(base.receive_buffer, |size| ReceiveBuffer::Fixed(size.into())),
        initial_window: endpoint.initial_window.unwrap_or(initial_window),
        limited_transmit: endpoint.limited_transmit.unwrap_or(base.limited_transmit),
        holds_new_data: endpoint.hold_new_data.unwrap_or(base.holds_new_data),
        precise_halving: endpoint.precise_halving.unwrap_or(base.precise_halving),
        timestamps: endpoint.timestamps.unwrap_or(base.timestamps),
        ecn: ecn_of(endpoint),
        acking: endpoint.delayed_ack.map_or(base.acking, |delay| delayed_acks(endpoint.profile, delay.duration())),
        control: control_of(endpoint),
        sack_blocks: if uses_sack(recovery) { base.sack_blocks } else { 0 },
        recovery,
        rack: rack_of(&endpoint.rack, base.rack),
        window_reduction: endpoint.window_reduction.map_or(base.window_reduction, reduction_of),
        spurious: spurious_of(endpoint, base.spurious),
        paces: endpoint.pacing.unwrap_or(base.paces),
        trigger: trigger_of(endpoint),
        rto: rto_of(endpoint, base.rto),
        restart: endpoint.rto.restart_on_duplicate.map_or(base.restart, restart_of),
        ..base
    }
}

/// ns-2's sink counts segments, standards count what fills one.
const fn delayed_acks(profile: Profile, delay: Duration) -> Acking {
    if matches!(profile, Profile::Ns2) { Acking::SecondSegment(delay) } else { Acking::Delayed(delay) }
}

fn ecn_of(endpoint: &Endpoint) -> EcnMode {
    match endpoint.transport.control {
        scenario::Control::Prague => EcnMode::Accurate,
        _ if uses_ecn(endpoint) => EcnMode::Classic,
        _ => EcnMode::Off,
    }
}

fn uses_ecn(endpoint: &Endpoint) -> bool {
    endpoint.ecn == Some(scenario::EcnMode::Classic)
}

/// min(4·MSS, max(2·MSS, 4380 B)) in whole segments (RFC 3390 §1).
fn rfc3390_window(mss: u16) -> u32 {
    let mss = u32::from(mss);
    (4 * mss).min((2 * mss).max(4380)) / mss
}

fn rto_of(endpoint: &Endpoint, base: RtoConfig) -> RtoConfig {
    let base = if endpoint.transport.fine_grained { base.fine_grained() } else { base };
    let timer = &endpoint.rto;
    RtoConfig {
        tick: timer.tick.map_or(base.tick, scenario::Time::duration),
        floor: timer.floor.map_or(base.floor, scenario::Time::duration),
        ceiling: timer.ceiling.map_or(base.ceiling, scenario::Time::duration),
        initial: timer.initial.map_or(base.initial, scenario::Time::duration),
        clock_phase: timer.clock_phase.map(scenario::Time::duration),
        ..base
    }
}

fn trigger_of(endpoint: &Endpoint) -> Trigger {
    if endpoint.transport.detection != scenario::Detection::EarlyRetransmission {
        return if endpoint.early_retransmit { Trigger::FewOutstanding } else { Trigger::ThreeDuplicates };
    }
    Trigger::EarlyRetransmission(match endpoint.early_retransmission.reference {
        scenario::AgeReference::Missing => AgeReference::Missing,
        scenario::AgeReference::LastInOrder => AgeReference::LastInOrder,
    })
}

fn recovery_of(endpoint: &Endpoint, base: Recovery) -> Recovery {
    let reno = Recovery::Reno { second_fast_retransmit: endpoint.reno.second_fast_retransmit };
    let newreno = Recovery::NewReno(NewRenoFlags {
        is_impatient: endpoint.newreno.impatient,
        deflates: endpoint.newreno.partial_window_deflation,
    });
    match (endpoint.recovery, endpoint.transport.control) {
        (Some(scenario::Recovery::Sack1), _) => Recovery::Sack1,
        (Some(scenario::Recovery::Rfc6675), _) => Recovery::Rfc6675,
        (Some(scenario::Recovery::Tahoe), _) | (None, scenario::Control::Tahoe) => Recovery::Tahoe,
        (Some(scenario::Recovery::Reno), _) | (None, scenario::Control::Reno) => reno,
        (Some(scenario::Recovery::Newreno), _) | (None, scenario::Control::NewReno | scenario::Control::TcpRtm) => {
            newreno
        }
        (Some(scenario::Recovery::RackTlp), _) => Recovery::Rack,
        (None, _) if endpoint.transport.detection == scenario::Detection::Rack => Recovery::Rack,
        (None, scenario::Control::Vegas) if endpoint.profile == Profile::Ns2 => Recovery::Vegas,
        (None, _) => base,
    }
}

/// Senders without SACK get none: their peers are not asked for it.
const fn uses_sack(recovery: Recovery) -> bool {
    !matches!(recovery, Recovery::Tahoe | Recovery::Reno { .. } | Recovery::NewReno(_) | Recovery::Vegas)
}

const fn restart_of(on_duplicate: bool) -> Restart {
    if on_duplicate { Restart::Duplicates } else { Restart::Progress }
}

const fn reduction_of(reduction: scenario::WindowReduction) -> WindowReduction {
    match reduction {
        scenario::WindowReduction::Immediate => WindowReduction::Immediate,
        scenario::WindowReduction::Prr => WindowReduction::Proportional,
    }
}

fn spurious_of(endpoint: &Endpoint, base: SpuriousDetection) -> SpuriousDetection {
    let undo = match endpoint.undo {
        scenario::Undo::None => Undo::None,
        scenario::Undo::Eifel => Undo::Eifel,
        scenario::Undo::Dsack => Undo::DuplicateSack,
    };
    SpuriousDetection { forward_rto: endpoint.spurious_rto_detection.unwrap_or(base.forward_rto), undo }
}

fn rack_of(rack: &scenario::Rack, base: RackConfig) -> RackConfig {
    RackConfig {
        reordering_window: rack.reordering_window.map_or(base.reordering_window, scenario::Fraction::value),
        expects_reordering: rack.expect_reordering.unwrap_or(base.expects_reordering),
        adapts_window: rack.adapt_window.unwrap_or(base.adapts_window),
        window_persistence: rack.window_persistence.unwrap_or(base.window_persistence),
        probes_tail: rack.tail_loss_probe.unwrap_or(base.probes_tail),
        longest_ack_delay: rack.longest_ack_delay.map_or(base.longest_ack_delay, scenario::Time::duration),
    }
}

fn control_of(endpoint: &Endpoint) -> Control {
    match endpoint.transport.control {
        // Flows of datagrams have no connections: any control will do.
        scenario::Control::Sack
        | scenario::Control::Mtcp
        | scenario::Control::TcpRtm
        | scenario::Control::Tltcp
        | scenario::Control::TcpRc
        | scenario::Control::Mtp
        | scenario::Control::LimitedBuffer
        | scenario::Control::Reno
        | scenario::Control::NewReno
        | scenario::Control::Udp
        | scenario::Control::Tfrc
        | scenario::Control::Srt => Control::Reno,
        scenario::Control::EarlybirdRt => Control::Tolerant(TolerantParameters::DEFAULT),
        scenario::Control::Tahoe => Control::Tahoe,
        scenario::Control::Vegas => Control::Vegas(vegas_parameters(&endpoint.vegas)),
        scenario::Control::Pert => Control::Pert(pert::flags(&endpoint.pert)),
        scenario::Control::Cubic => Control::Cubic(cubic::config(endpoint)),
        scenario::Control::Bbr => Control::Bbr(bbr_parameters(&endpoint.bbr)),
        scenario::Control::Prague => Control::Prague(prague_parameters(&endpoint.prague)),
    }
}

fn bbr_parameters(bbr: &scenario::Bbr) -> BbrParameters {
    let draft = BbrParameters::DEFAULT;
    let (share, duration) = (scenario::Fraction::value, scenario::Time::duration);
    BbrParameters {
        loss_threshold: bbr.loss_threshold.map_or(draft.loss_threshold, share),
        beta: bbr.beta.map_or(draft.beta, share),
        headroom: bbr.headroom.map_or(draft.headroom, share),
        probe_rtt_interval: bbr.probe_rtt_interval.map_or(draft.probe_rtt_interval, duration),
        probe_rtt_duration: bbr.probe_rtt_duration.map_or(draft.probe_rtt_duration, duration),
        min_rtt_window: bbr.min_rtt_window.map_or(draft.min_rtt_window, duration),
    }
}

fn prague_parameters(prague: &scenario::Prague) -> PragueParameters {
    let draft = PragueParameters::DEFAULT;
    PragueParameters {
        gain: prague.gain.map_or(draft.gain, scenario::Fraction::value),
        virtual_rtt: prague.virtual_rtt.map_or(draft.virtual_rtt, scenario::Time::duration),
    }
}

fn vegas_parameters(vegas: &scenario::Vegas) -> VegasParameters {
    let preset = match vegas.preset {
        scenario::VegasPreset::Ns2 => VegasParameters::NS2,
        scenario::VegasPreset::Linux => VegasParameters::LINUX,
    };
    VegasParameters {
        alpha: vegas.alpha.unwrap_or(preset.alpha),
        beta: vegas.beta.unwrap_or(preset.beta),
        gamma: vegas.gamma.unwrap_or(preset.gamma),
    }
}
