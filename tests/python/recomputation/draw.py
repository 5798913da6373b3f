"""Drawing of scenarios."""

from __future__ import annotations

import random
from typing import Final

NS2: Final = ("tahoe", "reno", "newreno", "sack", "sack-er", "vegas", "cubic", "pert", "pert-er", "newreno-fg")
RFC: Final = (
    "reno",
    "newreno",
    "sack",
    "sack-er",
    "vegas",
    "cubic",
    "cubic-rack",
    "sack-rack",
    "bbr-rack",
    "pert",
    "copa-rack",
)
LINUX: Final = ("cubic", "cubic-rack", "vegas", "bbr-rack", "sack-er", "prague")
TRANSPORTS: Final = {"ns2": NS2, "rfc": RFC, "linux": LINUX}
QUEUES: Final = (
    '"unlimited"',
    "{ packets = 8 }",
    "{ packets = 30 }",
    "{ bytes = 40000 }",
    "{ head-drop = 20 }",
    "{ red = { limit = 60 } }",
    "{ codel = {} }",
    "{ codel = { ecn = true } }",
    "{ pie = {} }",
    "{ fq-codel = {} }",
    "{ dualpi2 = {} }",
)

EDGES: Final = """
duration = "4s"
endpoint = { profile = "rfc", transport = "sack" }

[measure]
warm-up = "2500ms"
bottleneck = "left-right"
deliveries = true
transmissions = true
queue-positions = true
percentiles = true
series = "10ms"

[network.dumbbell]
bottleneck = { rate = "2Mb/s", delay = "2ms", queue = { head-drop = 100 } }
access = { rate = "100Mb/s", delay = "1ms" }

[[flows]]
name = "file0x"
from = "left"
to = "right"
application = { bulk = { bytes = 100000 } }
start = { at = "1200ms" }
[[flows]]
name = "cbr1x"
from = "left"
to = "right"
application = { cbr = { rate = "400kb/s", packet = 1000 } }
client = { rebuffer = {} }
[[flows]]
name = "cbr2x"
from = "left"
to = "right"
application = { cbr = { rate = "3Mb/s", packet = 1000 } }
transport = "udp"
start = { at = "2s" }
"""
"""Cases that few drawn scenarios have: packets from before the measured interval that are dropped in it, a file that
starts late, and a viewer who waits at the end."""


def scenario(seed: int) -> str:
    """Return a scenario as TOML: from 0 on a drawn one, below 0 the written one."""
    return EDGES if seed < 0 else Draw(random.Random(seed)).text()


class Draw:
    """One scenario."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.profile = chance.choice(list(TRANSPORTS))
        self.hops = chance.choice([0, 1, 2, 3])
        self.duration = chance.choice([4, 6, 8])

    def text(self) -> str:
        """Return the scenario."""
        bottleneck = "left-right" if self.hops == 0 else self.forward(self.chance.randrange(self.hops))
        warm_up = self.chance.choice(["0s", "1s", "1500ms"])
        return "\n".join(
            [
                f'duration = "{self.duration}s"',
                f'endpoint = {{ profile = "{self.profile}", transport = "{self.transport()}" }}',
                f'measure = {{ warm-up = "{warm_up}", bottleneck = "{bottleneck}", deliveries = true, '
                f'transmissions = true, queue-positions = true, percentiles = true, series = "10ms" }}',
                self.dumbbell() if self.hops == 0 else self.chain(),
                *(self.flow(number) for number in range(self.chance.randint(2, 4))),
                "",
            ]
        )

    def transport(self) -> str:
        """Return a transport that the profile has."""
        return self.chance.choice(TRANSPORTS[self.profile])

    def forward(self, hop: int) -> str:
        """Return the name of a link of the chain."""
        return f"n{hop}-n{hop + 1}"

    def dumbbell(self) -> str:
        """Return two routers with a bottleneck."""
        access = f'{{ rate = "{self.chance.choice([20, 100])}Mb/s", delay = "{self.chance.choice([1, 5])}ms" }}'
        return f"network.dumbbell = {{ bottleneck = {{ {self.channel()} }}, access = {access} }}"

    def chain(self) -> str:
        """Return nodes in a row, each with a bottleneck to the next."""
        return "\n".join(self.link(hop) for hop in range(self.hops))

    def link(self, hop: int) -> str:
        """Return a link of the chain and its opposite."""
        ends = f'from = "n{hop}"\nto = "n{hop + 1}"'
        delay = self.delay()
        kind = self.chance.choice(["plain", "plain", "plain", "loss", "steps", "trace"])
        queue = self.chance.choice(QUEUES)
        back = f'reverse = {{ rate = "{self.rate()}", delay = "{delay}" }}'
        match kind:
            case "loss":
                share = self.chance.choice([0.002, 0.02])
                extra = f'rate = "{self.rate()}"\nloss = [{{ bernoulli = {{ probability = {share} }} }}]'
            case "steps":
                extra = f'rate = "{self.rate()}"\nrate-steps = [{{ at = "2s", rate = "{self.rate()}" }}]\n{back}'
            case "trace":
                extra = f"trace = {self.opportunities()}\n{back}"
            case _:
                extra = f'rate = "{self.rate()}"' + self.chance.choice(["", f"\n{back}"])
        return f'[[network.links]]\n{ends}\ndelay = "{delay}"\nqueue = {queue}\n{extra}'

    def channel(self) -> str:
        """Return rate, delay and queue of a dumbbell's bottleneck."""
        return f'rate = "{self.rate()}", delay = "{self.delay()}", queue = {self.chance.choice(QUEUES)}'

    def rate(self) -> str:
        """Return a rate."""
        return self.chance.choice(["1500kb/s", "2Mb/s", "5Mb/s", "8Mb/s"])

    def delay(self) -> str:
        """Return a delay of propagation."""
        return self.chance.choice(["100us", "2ms", "15ms", "40ms"])

    def opportunities(self) -> list[int]:
        """Return times in milliseconds at which 1500 bytes may go."""
        return [*sorted(self.chance.choices(range(1, 400), k=120)), 400]

    def flow(self, number: int) -> str:
        """Return a group of flows."""
        first = self.chance.randrange(max(self.hops, 1))
        last = self.chance.randint(first + 1, max(self.hops, 1))
        source, target = ("left", "right") if self.hops == 0 else (f"n{first}", f"n{last}")
        application, extra = self.application()
        start = self.chance.choice(["0s", "200ms", "1200ms"])
        name = f"{application.split()[1]}{number}x"
        lines = [f'name = "{name}"', f'from = "{source}"', f'to = "{target}"', f"application = {application}"]
        lines += [f'start = {{ at = "{start}" }}', f"count = {self.chance.choice([1, 1, 2])}", *extra]
        return "[[flows]]\n" + "\n".join(lines)

    def application(self) -> tuple[str, list[str]]:
        """Return an application and what its flow has besides."""
        kind = self.chance.choice(["bulk", "file", "cbr", "cbr", "udp", "web"])
        if kind == "bulk":
            return "{ bulk = {} }", [f'transport = "{self.transport()}"']
        if kind == "file":
            return f"{{ bulk = {{ bytes = {self.chance.choice([3000, 200000])} }} }}", []
        if kind == "web":
            return "{ webtraf = { sessions = 3 } }", []
        rate, size = self.chance.choice([(64, 160), (400, 1000), (1200, 1000)])
        application = f'{{ cbr = {{ rate = "{rate}kb/s", packet = {size} }} }}'
        if kind == "udp":
            return application, ['transport = "udp"', *self.client()]
        return application, [f'transport = "{self.transport()}"', *self.client()]

    def client(self) -> list[str]:
        """Return a viewer, or none."""
        players = [
            "{ rebuffer = {} }",
            "{ rebuffer = { start = 20, resume = 10 } }",
            '{ deadline = { playback-delay = "250ms" } }',
            '{ deadline = { playback-delay = "80ms" } }',
        ]
        return self.chance.choice([[], *([f"client = {player}"] for player in players)])
