from iotide_server.trends.changes.words import environment_change, environment_differences


def test_equal_facts_are_no_change() -> None:
    assert environment_change({"a": 1, "b": "x"}, {"b": "x", "a": 1}, 7) is None


def test_each_differing_fact_is_named_with_both_values() -> None:
    flag = environment_change({"kernel": "6.1", "raid": "clean"}, {"kernel": "6.2", "ssd": True}, 7)
    assert flag is not None
    assert flag.measured == "kernel = 6.2; raid = absent; ssd = True"
    assert flag.limit == "as in run 7: kernel = 6.1; raid = clean; ssd = absent"


def test_a_change_of_everything_still_fits_into_a_flag() -> None:
    flag = environment_change({f"fact{index}": "x" * 4000 for index in range(400)}, {}, 7)
    assert flag is not None
    assert flag.measured.endswith("and 380 more")


def test_differences_are_the_same_words_whichever_run_saw_them() -> None:
    words = environment_differences({"kernel": "6.1.0-30", "raid": "clean"}, {"kernel": "6.1.0-35", "ssd": True})
    assert words == "kernel: 6.1.0-30 -> 6.1.0-35; raid: clean -> absent; ssd: absent -> True"
    many = environment_differences({f"fact{index}": "x" * 4000 for index in range(400)}, {})
    assert many.endswith("and 380 more")
