"""Published pictures and tables lose what nobody sees, and nothing else."""

import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt

from earlybird.report.smaller import make_smaller, rounded, smaller_picture

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("pictures") / "plot.svg"
    with mpl.rc_context({"svg.fonttype": "none"}):
        drawn, axes = plt.subplots()
        for factor in (1, 2):
            axes.plot([1, 2, 3], [factor * x * x for x in (1, 2, 3)], marker="o", label=f"times {factor}")
        axes.set_title("A title")
        axes.legend()
        drawn.savefig(path)
        plt.close(drawn)
    return path.read_text(encoding="utf-8")


def words(picture: str) -> list[str]:
    return ["".join(text.itertext()).strip() for text in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_a_picture_says_the_same_words_in_less_room(picture: str) -> None:
    smaller = smaller_picture(picture)
    assert words(smaller) == words(picture)
    assert "A title" in words(smaller)
    assert len(smaller) < 0.7 * len(picture)


def test_whatever_a_picture_draws_it_still_draws(picture: str) -> None:
    before, after = (ElementTree.fromstring(text) for text in (picture, smaller_picture(picture)))
    for element in ("path", "use", "text", "clipPath"):
        assert len(list(after.iter(SVG + element))) == len(list(before.iter(SVG + element))) > 0


def test_paths_go_through_the_same_points(picture: str) -> None:
    def points(text: str) -> list[list[float]]:
        paths = ElementTree.fromstring(text).iter(f"{SVG}path")
        return [[float(number) for number in re.findall(r"-?\d+\.?\d*", path.get("d", ""))] for path in paths]

    before, after = points(picture), points(smaller_picture(picture))
    assert [len(path) for path in after] == [len(path) for path in before]
    for own, other in zip(before, after, strict=True):
        assert own == pytest.approx(other, abs=0.1)


def test_curves_keep_their_commands() -> None:
    curved = '<svg><path d="M 1 2 C 3 4 5 6 7 8 L 9 10 z"/></svg>'
    assert smaller_picture(curved) == '<svg><path d="M1 2C3 4 5 6 7 8L9 10z"/></svg>'


def test_all_that_a_picture_refers_to_is_in_it(picture: str) -> None:
    smaller = smaller_picture(picture)
    names = {element.get("id") for element in ElementTree.fromstring(smaller).iter()}
    referred = set(re.findall(r'(?:href="|url\()#(\w+)', smaller))
    assert referred
    assert referred <= names
    for name in re.findall(r'class="(\w+)"', smaller):
        assert f".{name}{{" in smaller


def test_a_picture_that_is_small_stays_as_it_is(picture: str) -> None:
    smaller = smaller_picture(picture)
    assert smaller_picture(smaller) == smaller


def test_numbers_end_where_their_interval_makes_them_meaningless() -> None:
    table = pl.DataFrame({"value": [8.031685340035297], "low": [7.8819169958178], "high": [8.181453684252796]})
    assert rounded(table).row(0) == (8.03, 7.88, 8.18)


def test_numbers_without_an_interval_keep_six_digits() -> None:
    table = pl.DataFrame(
        {"value": [1234567.8, 0.123456789, None], "low": [None, 0.1, None], "high": [None, 0.1, None], "n": [1, 2, 3]}
    )
    assert rounded(table)["value"].to_list() == [1234570.0, 0.123457, None]
    assert rounded(table)["n"].to_list() == [1, 2, 3]


@given(
    value=st.floats(min_value=-1e6, max_value=1e6),
    half=st.floats(min_value=1e-3, max_value=1e4),
)
def test_rounding_moves_a_number_by_less_than_a_tenth_of_its_interval(value: float, half: float) -> None:
    table = pl.DataFrame({"value": [value], "low": [value - half], "high": [value + half]})
    moved = (rounded(table) - table).row(0)
    assert all(abs(number) <= 0.1 * half + 1e-6 * abs(value) + 1e-6 * half for number in moved)


def test_a_folder_is_made_smaller_in_place(tmp_path: Path, picture: str) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "plot.svg").write_text(picture)
    (tmp_path / "deep" / "plot.csv").write_text("value,low,high,paper\n1.23456,1.1,1.3,\n")
    (tmp_path / "deep" / "nothing.csv").write_text("\n")
    make_smaller(tmp_path)
    assert (tmp_path / "deep" / "plot.svg").read_text() == smaller_picture(picture)
    assert (tmp_path / "deep" / "plot.csv").read_text() == "value,low,high,paper\n1.23,1.1,1.3,\n"
    assert (tmp_path / "deep" / "nothing.csv").read_text() == "\n"
