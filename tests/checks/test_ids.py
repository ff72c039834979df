import pytest

from ancrage.ids import IdIndex, IdPolicy


@pytest.mark.parametrize("written", ["M-0034", "m-0034", "M34", "m_34", "M 34", "M-34", " M-0034 "])
def test_presentation_does_not_count(written: str) -> None:
    assert IdIndex(["M-0034", "M-0035"], IdPolicy()).find(written) == "M-0034"


@pytest.mark.parametrize("written", ["M-0340", "M-3", "M-00034a", "", "R-0034"])
def test_another_id_is_another_id(written: str) -> None:
    assert IdIndex(["M-0034", "M-0035"], IdPolicy()).find(written) is None


def test_numbers_apart_are_not_run_together() -> None:
    index = IdIndex(["M1-0001", "M10-001"], IdPolicy())
    assert index.find("m1-1") == "M1-0001"
    assert index.find("M10-1") == "M10-001"
    assert index.find("M100-01") is None


def test_ids_that_differ_only_in_presentation_must_be_written_exactly() -> None:
    index = IdIndex(["a1", "a01"], IdPolicy())
    assert index.find("a1") == "a1"
    assert index.find("a01") == "a01"
    assert index.find("A1") is None


@pytest.mark.parametrize(
    ("stored", "written"), [("0034", "M-0034"), ("34", "M34"), ("M-0034", "34")]
)
def test_a_prefix_on_one_side_only_is_presentation(stored: str, written: str) -> None:
    assert IdIndex([stored], IdPolicy()).find(written) == stored
    assert IdIndex([stored], IdPolicy(ignore_prefix=False)).find(written) is None


def test_policies_can_be_strict() -> None:
    policy = IdPolicy(ignore_case=False, ignore_padding=False, ignore_prefix=False)
    index = IdIndex(["M-0034"], policy)
    assert index.find("M-0034") == "M-0034"
    assert index.find("m-0034") is None
    assert index.find("M-34") is None


def test_zeros_inside_hexadecimal_ids_are_no_padding() -> None:
    index = IdIndex(["R-a00f12c4", "R-3b0007"], IdPolicy())
    assert index.find("r-a00f12c4") == "R-a00f12c4"
    assert index.find("R-a0f12c4") is None
    assert index.find("R-3b7") is None
