"""What the benchmark measures."""

from earlybird.benchmark import transport_names


def test_the_benchmark_leaves_out_transports_that_cannot_carry_a_long_transfer() -> None:
    names = transport_names()
    assert {"sack", "cubic-rack", "bbr-rack", "tfrc"} <= set(names)
    assert not {"udp", "srt", "mtcp", "earlybird-rt"} & set(names)
