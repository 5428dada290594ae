import links
import pytest

FILES = frozenset({"README.md", "docs", "docs/README.md", "docs/one.md", "deploy"})
ONE = "# One\n## Two words: `three`\n[index](README.md)\n"


def found(readme: str, index: str = "[one](one.md)") -> list[str]:
    texts = {"README.md": readme, "docs/README.md": index, "docs/one.md": ONE}
    return list(links.problems({name: links.read(text) for name, text in texts.items()}, FILES))


@pytest.mark.parametrize(
    "link",
    [
        "[file](docs/one.md)",
        "[directory](deploy)",
        "[heading](docs/one.md#two-words-three)",
        "[by name][one]\n\n[one]: docs/one.md#one",
        "# Here\n[here](#here)",
        "[elsewhere](https://example.org/gone#gone)",
        "`[code](gone.md)`",
    ],
)
def test_a_link_that_leads_somewhere_is_no_finding(link: str) -> None:
    assert found(link) == []


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("\n[file](gone.md)", 'README.md:2: "gone.md": no such file or directory in git'),
        ("| a |\n|---|\n| ![](docs/a.png) |", 'README.md:3: "docs/a.png": no such file or directory in git'),
        ("[heading](docs/one.md#four)", 'README.md:1: "docs/one.md#four": docs/one.md has no heading "four"'),
        ("[here](#gone)", 'README.md:1: "#gone": README.md has no heading "gone"'),
    ],
)
def test_a_link_that_leads_nowhere_is_named_with_its_line(link: str, problem: str) -> None:
    assert found(link) == [problem]


def test_a_page_that_the_index_leaves_out_is_a_finding() -> None:
    assert found("", index="") == ["docs/README.md:1: add docs/one.md to a section; the menu at /docs is made from it"]
