"""Instructions to use a sender: settings of Linux, or the command."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from earlybird.planning.candidates import SHORT_TIMER, SHORT_TIMERS

if TYPE_CHECKING:
    from earlybird.planning.candidates import Candidate
    from earlybird.planning.path import NetworkPath
    from earlybird.planning.stream import StreamSpec

LINUX_BUFFER: Final = 4 * 2**20  # bytes up to which Linux lets a send buffer grow (`tcp_wmem`, tcp(7)) ..
OVERHEAD: Final = 2  # ... of which half is for its own bookkeeping (`tcp_adv_win_scale`, tcp(7))
UNSENT: Final = 0.1
"""Seconds of film that wait in the kernel unsent: as little as keeps the sender busy between two wake-ups."""
LEAST_UNSENT: Final = 16 * 1024


def advice(candidate: Candidate, path: NetworkPath, stream: StreamSpec, delay: float) -> list[str]:
    """Return the instructions for a delay in seconds: shell commands, and comments that begin with #."""
    if not math.isfinite(delay):
        return ["# no setting helps: send less, or over a better line"]
    return [*_switch(candidate, path, delay), *(_socket(path, stream) if _is_kernels(candidate) else [])]


def repeat_measurement(path: NetworkPath) -> list[str]:
    """Return the instructions for a measurement that tells the losses better."""
    if path.loss_sample is None:
        return []
    return [
        "# first measure the losses again, and give all files to the next plan:",
        f"ping -c {path.loss_sample.wanted} -i 0.2 VIEWER > ping.txt    # or capture a transfer, for --from-pcap",
        "# with the losses as they were measured:",
    ]


def _is_kernels(candidate: Candidate) -> bool:
    return candidate.base in ("cubic", "reno", "bbr", "bbr1", "bbr3", "pert") and not candidate.has_deadline


def _switch(candidate: Candidate, path: NetworkPath, delay: float) -> list[str]:
    match candidate.base:
        case "cubic" | "reno" as name if not candidate.transport.endswith("-er"):
            return [*_congestion_control(name), *(_timer() if candidate.name == SHORT_TIMERS else [])]
        case "bbr" | "bbr1":
            return [*_congestion_control("bbr", module="tcp_bbr"), *_fair_queue()]
        case "bbr3":
            return [*_own_kernel(path, delay), *_congestion_control("bbr"), *_fair_queue()]
        case "pert":
            return [
                "make kernel    # once: PERT as a congestion control for the kernel (docs/kernel.md)",
                "earlybird kernel run pert -- COMMAND    # or: earlybird kernel load pert --namespace self",
            ]
        case "srt":
            return [
                f"srt-live-transmit udp://:1234 'srt://VIEWER:4201?latency={_latency(path, delay)}'",
                f"# or any program with SRT, with latency={_latency(path, delay)} (milliseconds)",
            ]
        case "udp" | "tfrc":
            return ["# datagrams: RTP over UDP, as GStreamer's rtpbin or FFmpeg's rtp:// send it"]
        case "quic" | "quic-streams":
            return ["# any program with QUIC (quinn here): a stream for all frames, or one for each with quic-streams"]
        case "quic-datagrams":
            return ["# any program with QUIC and its datagrams (RFC 9221; quinn here)"]
        case _:
            return [_transmit(candidate.transport, path, delay)]


def _congestion_control(name: str, module: str | None = None) -> list[str]:
    load = [f"modprobe {module}"] if module else []
    return [
        *load,
        f"sysctl -w net.ipv4.tcp_congestion_control={name}",
        f'# or for one socket: setsockopt(s, IPPROTO_TCP, TCP_CONGESTION, "{name}", {len(name)})',
    ]


def _timer() -> list[str]:
    return [
        f"ip route change $(ip route show default | head -n 1) rto_min {SHORT_TIMER}",
        "# a receiver that delays ACKs for longer (Windows, macOS) then sees needless retransmissions",
    ]


def _fair_queue() -> list[str]:
    return ["tc qdisc replace dev eth0 root fq    # the interface to the viewers; paces what the sender spaces out"]


def _own_kernel(path: NetworkPath, delay: float) -> list[str]:
    return [
        "# BBR version 3 is in no distribution's kernel, whose bbr is version 1:",
        "# build github.com/google/bbr, branch v3, and switch that kernel's bbr on,",
        f"# or take it without any kernel: {_transmit('bbr3-rack', path, delay)}",
    ]


def _transmit(transport: str, path: NetworkPath, delay: float) -> str:
    """Write the command of a relay; its latency counts from the shortest time that the way takes."""
    return f"earlybird transmit udp://:1234 'eb://VIEWER:4201?transport={transport}&latency={_latency(path, delay)}'"


def _latency(path: NetworkPath, delay: float) -> int:
    return max(math.ceil(1e3 * (delay - path.round_trip / 2)), 1)


def _socket(path: NetworkPath, stream: StreamSpec) -> list[str]:
    unsent = max(round(UNSENT * stream.clip.mean_rate / 8 / 1024) * 1024, LEAST_UNSENT)
    found = [
        "setsockopt(s, IPPROTO_TCP, TCP_NODELAY, 1)    # no frame waits for another's ACK",
    ]
    if stream.goal != "vod":
        found.append(
            f"setsockopt(s, IPPROTO_TCP, TCP_NOTSENT_LOWAT, {unsent})    # what waits is still yours to drop;"
            f" or sysctl -w net.ipv4.tcp_notsent_lowat={unsent}"
        )
    needed = 2 * OVERHEAD * round(path.volume)
    if needed > LINUX_BUFFER:
        found.append(f'sysctl -w net.ipv4.tcp_wmem="4096 16384 {needed}"    # two round trips of the line')
        found.append(f'sysctl -w net.ipv4.tcp_rmem="4096 131072 {needed}"    # at the viewers')
    return found
