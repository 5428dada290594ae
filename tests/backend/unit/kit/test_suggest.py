from iotide_server.kit.suggest import choose_from


def test_a_typing_error_is_guessed() -> None:
    assert choose_from("bonie++", ["dd", "bonnie++", "fio"]) == "did you mean bonnie++?"


def test_a_stranger_gets_the_list() -> None:
    assert choose_from("zzz", ["fio", "dd"]) == "choose one of dd, fio"


def test_a_long_list_is_cut() -> None:
    assert choose_from("zzz", [f"n{number:02}" for number in range(20)]).endswith("n11 and 8 more")


def test_an_empty_choice_is_reported() -> None:
    assert choose_from("zzz", []) == "there are none yet"
