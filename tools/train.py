"""
Do what the simulator mostly does, for a build that learns from it: `make build PGO=1`, `[tool.maturin] pgo-command`.

Long transfers by each kind of recovery and control, and what else studies are made of: short ones, queues that decide
when a packet leaves, losses, frames for a viewer, conversations.
"""

from pathlib import Path

from earlybird.loading import resolve

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
SEED = 1
CASES: tuple[tuple[str, dict[str, object]], ...] = (
    ("bench-56-flows.toml", {"duration": "20s"}),
    ("bench-56-flows.toml", {"duration": "20s", "endpoint.profile": "rfc", "endpoint.mss": 1000}),
    ("bench-transports.toml", {"duration": "20s", "transport": "cubic-rack"}),
    ("bench-transports.toml", {"duration": "20s", "transport": "bbr-rack"}),
    ("dumbbell.toml", {"duration": "20s"}),
    ("dumbbell.toml", {"duration": "20s", "transport": "pert"}),
    ("queue-codel.toml", {"duration": "20s"}),
    ("streaming-loss.toml", {"duration": "20s"}),
    ("web-traffic.toml", {"duration": "20s"}),
    ("audio-call.toml", {"transport": "earlybird-rt", "loss": 0.05}),
)


def main() -> None:
    """Run each case once."""
    for name, settings in CASES:
        resolve(SCENARIOS / name, settings).run(SEED)


if __name__ == "__main__":
    main()
