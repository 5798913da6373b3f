"""
Train a small congestion control by the cross-entropy method, and compare it with CUBIC, BBR and PERT.

Needs earlybird[gym]. Rubinstein, Kroese, "The Cross-Entropy Method", 2004. Usage: python train.py RESULTS.json
"""

import json
import sys
import time

import numpy as np

import earlybird
from earlybird.gym import OBSERVATION, CongestionControl

SCENARIO = """
duration = "8s"
[parameters]
rate = "10Mb/s"
delay = "20ms"
loss = 0.0
sender = "cubic-rack"
[endpoint]
profile = "linux"
transport = "$sender"
[[network.links]]
from = "server"
to = "client"
rate = "$rate"
delay = "$delay"
queue = { bytes = 100000 }
loss = [{ bernoulli = { probability = "$loss" } }]
[[flows]]
name = "file"
from = "server"
to = "client"
application = { bulk = {} }
"""
TRAINED_ON = [
    {"rate": r, "delay": d, "loss": p} for r in ("4Mb/s", "16Mb/s") for d in ("10ms", "40ms") for p in (0.0, 0.01)
]
# Neither a rate nor a delay or loss of these was trained on.
TESTED_ON = [
    {"rate": r, "delay": d, "loss": p}
    for r in ("2Mb/s", "8Mb/s", "24Mb/s")
    for d in ("20ms", "60ms")
    for p in (0.0, 0.005)
]
OTHERS = ("cubic-rack", "bbr-rack", "pert-rack")
GENERATIONS, POPULATION, ELITE = 15, 24, 6


def decide(policy: np.ndarray, observation: np.ndarray) -> np.ndarray:
    """Return the action of a linear policy: weights, and a constant."""
    return np.tanh([policy[:-1] @ observation + policy[-1]])


def episode(environment: CongestionControl, policy: np.ndarray, path: dict, seed: int) -> tuple[float, int, dict]:
    """Run an episode; return the mean reward per second, the number of steps and the run's summary."""
    observation, _ = environment.reset(seed=seed, options=path)
    total, steps = 0.0, 0
    while True:
        observation, reward, _, is_over, info = environment.step(decide(policy, observation))
        total, steps = total + reward, steps + 1
        if is_over:
            return total / 8, steps, info["summary"]


def train(environment: CongestionControl, seed: int) -> tuple[np.ndarray, list[dict]]:
    """Return the policy and the mean reward of each generation: of all policies, and of the mean of the best ones."""
    random = np.random.default_rng(seed)
    mean, deviation = np.zeros(len(OBSERVATION) + 1), np.ones(len(OBSERVATION) + 1)
    curve, steps = [], 0
    for generation in range(GENERATIONS):
        policies = mean + deviation * random.standard_normal((POPULATION, len(mean)))
        scores = []
        for policy in policies:
            runs = [episode(environment, policy, path, generation) for path in TRAINED_ON]
            scores.append(np.mean([run[0] for run in runs]))
            steps += sum(run[1] for run in runs)
        best = policies[np.argsort(scores)[-ELITE:]]
        # Noise that shrinks keeps the deviation from collapsing (Szita, Lőrincz 2006).
        mean, deviation = best.mean(axis=0), best.std(axis=0) + max(0.3 - generation / 40, 0)
        curve.append({"generation": generation + 1, "mean": np.mean(scores), "best": max(scores), "steps": steps})
        print(curve[-1], flush=True)
    return mean, curve


def judged(summary: dict, path: dict) -> dict:
    """Return what a run got."""
    base = 2 * float(path["delay"].removesuffix("ms"))
    return {
        "utilisation": summary["utilisation"],
        "queue_ms": summary["mean_queue_delay_ms"],
        "queue_rtts": summary["mean_queue_delay_ms"] / base,
        "queue_drops": summary["queue_drop_rate"],
    }


def main() -> None:
    """Train, test on other paths, and write the figures."""
    environment = CongestionControl(SCENARIO, flow="file")
    begun = time.monotonic()
    policy, curve = train(environment, seed=1)
    spent = time.monotonic() - begun
    rows = []
    for path in TESTED_ON:
        rows.append({"sender": "trained", **path, **judged(episode(environment, policy, path, 100)[2], path)})
        for sender in OTHERS:
            result = earlybird.run(SCENARIO, seed=100, overrides={**path, "sender": sender})
            rows.append({"sender": sender, **path, **judged(result.summary, path)})
    figures = {"seconds": spent, "steps": curve[-1]["steps"], "policy": policy.tolist(), "curve": curve, "rows": rows}
    with open(sys.argv[1], "w") as file:
        json.dump(figures, file, indent=1)
    for sender in ("trained", *OTHERS):
        for lossy in (False, True):
            of = [row for row in rows if row["sender"] == sender and (row["loss"] > 0) == lossy]
            means = {key: round(float(np.mean([row[key] for row in of])), 4) for key in list(of[0])[4:]}
            print(sender, "with losses" if lossy else "without", means)


if __name__ == "__main__":
    main()
