import pytest
from factories.announced import NOW, OPTION_DEFAULTS, hello, workload
from factories.clusters import make_cluster, make_node
from factories.measured import Measured
from factories.raised import raised
from factories.ready_cluster import announced
from sqlalchemy import delete, event, select
from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.clusters.models import Cluster, Node
from iotide_server.clusters.repository import node_workloads
from iotide_server.kit.db import Database
from iotide_server.kit.pagination import PageRequest
from iotide_server.workloads import repository, service
from iotide_server.workloads.errors import WORKLOAD_DIFFERS, WORKLOAD_NOT_FOUND, WORKLOAD_UNAVAILABLE
from iotide_server.workloads.key_options import KeyOptions
from iotide_server.workloads.models import Catalogue, NodeWorkload, Workload, WorkloadBaseline
from iotide_server.workloads.stored_repository import read_stored
from iotide_wire.expressions import Expression, Number, Operation, Option, node_count
from iotide_wire.vocabulary import MOST_NODES

FIRST_PAGE = PageRequest(50, None)


def two_nodes(session: Session) -> tuple[Node, Node]:
    cluster = make_cluster(session)
    return make_node(session, cluster, "n1"), make_node(session, cluster, "n2", said=hello("instance-n2"))


def catalogue(session: Session, *grants: int, with_former: bool = False) -> list[tuple[str, int, list[int]]]:
    viewer = Principal(PrincipalKind.USER, 1, "grace", grants=dict.fromkeys(grants or (None,), Role.VIEWER))
    entries = service.catalogue(session, viewer, None, FIRST_PAGE, with_former=with_former).items
    return [
        (entry.name, entry.revision, [node_id for alike in entry.nodes for node_id in alike.node_ids])
        for entry in entries
    ]


def test_equal_announcements_are_one_workload(session: Session) -> None:
    one, two = two_nodes(session)
    for node in (one, two):
        service.announce(session, node, [workload("copy"), workload("seek")])
    assert catalogue(session) == [("seek", 1, [one.id, two.id]), ("copy", 1, [one.id, two.id])]


def test_nodes_with_the_same_workload_are_grouped(session: Session) -> None:
    one, two = two_nodes(session)
    cluster = session.get_one(Cluster, one.cluster_id)
    three, four = (make_node(session, cluster, name, said=hello(f"instance-{name}")) for name in ("n3", "n4"))
    for node, version in ((one, "3.33"), (two, "3.36"), (four, "3.33")):
        service.announce(session, node, [workload("seek", tool_version=version)])
    absent = workload("seek", available=False, unavailable_because="no seek", tool_version=None)
    service.announce(session, three, [absent])
    everybody = Principal(PrincipalKind.USER, 1, "grace", grants={None: Role.VIEWER})
    (seek,) = service.catalogue(session, everybody, None, FIRST_PAGE).items
    assert [tuple(dict(alike).values()) for alike in seek.nodes] == [
        (True, None, "3.33", [one.id, four.id]),
        (True, None, "3.36", [two.id]),
        (False, "no seek", None, [three.id]),
    ]


def test_the_catalogue_says_which_workloads_run_one_program_over_several_nodes(session: Session) -> None:
    one, _ = two_nodes(session)
    choice = Option.of("sync")
    service.announce(session, one, [workload("copy"), workload("seek", own_programs=choice)])
    everybody = Principal(PrincipalKind.USER, 1, "grace", grants={None: Role.VIEWER})
    shown = {entry.name: entry for entry in service.catalogue(session, everybody, None, FIRST_PAGE).items}
    assert (shown["copy"].own_programs, shown["seek"].own_programs) == (Number.of(1), choice)
    stored = {row.name: row.own_programs for row in session.scalars(select(Workload))}
    assert stored == {"copy": {"kind": "number", "value": 1.0}, "seek": {"kind": "name", "name": "sync"}}


def test_a_choice_of_programs_by_too_much_arithmetic_is_rejected(session: Session) -> None:
    one, _ = two_nodes(session)
    wide: Expression = Option.of("sync")
    while node_count(wide) <= MOST_NODES:
        wide = Operation(op="max", args=(wide,) * 16)
    service.announce(session, one, [workload("copy", own_programs=wide)])
    (rejected,) = node_workloads(session, [one.id])[one.id]
    assert "rejected: copy: own_programs" in str(rejected.unavailable_because)


def test_workloads_that_a_node_no_longer_announces_are_removed(session: Session) -> None:
    one, _ = two_nodes(session)
    service.announce(session, one, [workload("copy"), workload("seek")])
    service.announce(session, one, [workload("copy", revision=2)])
    assert catalogue(session) == [("copy", 2, [one.id])]


def test_the_workloads_of_other_clusters_are_not_shown(session: Session) -> None:
    one, two = two_nodes(session)
    other = make_node(session, make_cluster(session, "lake"), "n3", said=hello("instance-n3"))
    service.announce(session, one, [workload("copy")])
    service.announce(session, other, [workload("copy"), workload("secret")])
    assert catalogue(session, two.cluster_id) == [("copy", 1, [one.id])]


def test_workloads_of_campaigns_keep_their_option_titles_when_no_node_has_them(session: Session) -> None:
    measured = Measured(session, NOW)
    measured.cell()
    measured.workload.options_schema = {"properties": {"size_bytes": {"title": "Size"}}}
    service.announce(session, measured.node, [])
    other = make_cluster(session, "lake").id
    assert catalogue(session) == []
    assert catalogue(session, with_former=True) == [("dd", 1, [])]
    assert catalogue(session, measured.node.cluster_id, with_former=True) == [("dd", 1, [])]
    assert catalogue(session, other, with_former=True) == []
    titles = repository.option_titles(session, ["dd", "absent"], [measured.node.cluster_id])
    assert (titles["dd"], titles["absent"]) == ({"size_bytes": "Size"}, {})


def test_a_retired_node_s_workloads_are_not_offered(session: Session) -> None:
    one, _ = two_nodes(session)
    service.announce(session, one, [workload("copy")])
    one.retired_at = NOW
    session.flush()
    assert catalogue(session) == []


def test_a_campaign_s_workload_is_the_one_that_all_nodes_can_run(session: Session) -> None:
    one, two = two_nodes(session)
    for node in (one, two):
        service.announce(session, node, [workload("copy")])
    assert service.workload_for(session, "copy", [one.id, two.id]).name == "copy"


def test_an_unknown_workload_is_guessed(session: Session) -> None:
    one, two = two_nodes(session)
    service.announce(session, one, [workload("ponies")])
    with raised(WORKLOAD_NOT_FOUND) as refusal:
        service.workload_for(session, "ponie", [one.id, two.id], field="workloads[0].workload")
    assert refusal.value.remedy == "did you mean ponies?"
    assert refusal.value.field == "workloads[0].workload"


def test_a_node_without_the_tool_is_named_with_its_reason(session: Session) -> None:
    one, two = two_nodes(session)
    service.announce(session, one, [workload("seek")])
    service.announce(session, two, [workload("seek", available=False, unavailable_because="seek is not installed")])
    with raised(WORKLOAD_UNAVAILABLE) as refusal:
        service.workload_for(session, "seek", [one.id, two.id])
    assert "n2" in refusal.value.message
    assert "n2: seek is not installed" in str(refusal.value.remedy)
    assert "n1" not in refusal.value.message


def test_a_node_that_announced_nothing_is_named(session: Session) -> None:
    one, two = two_nodes(session)
    service.announce(session, one, [workload("seek")])
    with raised(WORKLOAD_UNAVAILABLE, match="seek cannot run on n2"):
        service.workload_for(session, "seek", [one.id, two.id])


def test_nodes_with_different_schemas_are_named_by_version(session: Session) -> None:
    one, two = two_nodes(session)
    service.announce(session, one, [workload("seek")])
    service.announce(session, two, [workload("seek", option_defaults=OPTION_DEFAULTS | {"sync": "none"})])
    with raised(WORKLOAD_DIFFERS, match=r"revision 1 \(\w{8}\) on n1; revision 1 \(\w{8}\) on n2"):
        service.workload_for(session, "seek", [one.id, two.id])


def test_a_schema_that_cannot_be_used_is_rejected_with_words_and_the_rest_is_taken(session: Session) -> None:
    one, _ = two_nodes(session)
    service.announce(session, one, [workload("odd", options_schema={"type": "nonsense"}), workload("copy")])
    shown = {has.name: has for has in node_workloads(session, [one.id])[one.id]}
    assert (shown["copy"].available, shown["odd"].available) == (True, False)
    words = "rejected: odd: options_schema: not the schema of an object; start it with "
    assert str(shown["odd"].unavailable_because).startswith(words)


def frozen(session: Session) -> WorkloadBaseline:
    session.expire_all()
    newest = session.scalars(select(Workload).where(Workload.name == "copy").order_by(Workload.id.desc())).first()
    assert newest is not None
    return service.baseline(session, newest)


def test_defaults_are_frozen_at_the_first_revision(session: Session) -> None:
    one, _ = two_nodes(session)
    service.announce(session, one, [workload("copy", option_defaults={"sync": "fsync"})])
    service.announce(session, one, [workload("copy", revision=2, option_defaults={"sync": "none"})])
    assert frozen(session).option_defaults == {"sync": "fsync"}


def test_an_option_that_a_revision_adds_does_not_begin_a_new_series(session: Session) -> None:
    one, _ = two_nodes(session)
    service.announce(session, one, [workload("copy", option_defaults={"sync": "fsync"})])
    before = KeyOptions(frozen(session).option_defaults).chosen({"sync": "fsync"})
    service.announce(session, one, [workload("copy", revision=2, option_defaults={"sync": "fsync", "verify": False})])
    after = KeyOptions(frozen(session).option_defaults).chosen({"sync": "fsync", "verify": False})
    assert before == after == {}


def test_primary_metrics_are_kept_once_an_agent_names_them(session: Session) -> None:
    one, two = two_nodes(session)
    named = workload("copy")
    named = named.model_copy(
        update={"metrics": tuple(metric.model_copy(update={"primary": True}) for metric in named.metrics)}
    )
    for node, said in ((one, workload("copy")), (two, named), (one, workload("copy"))):
        service.announce(session, node, [said])
    session.expire_all()
    everybody = Principal(PrincipalKind.USER, 1, "grace", grants={None: Role.VIEWER})
    (entry,) = service.catalogue(session, everybody, None, FIRST_PAGE).items
    assert all(metric.primary for metric in entry.metrics)
    assert [node_id for alike in entry.nodes for node_id in alike.node_ids] == [one.id, two.id]


def test_a_hello_without_changes_writes_no_entry(session: Session) -> None:
    one, two = two_nodes(session)
    said = [*announced(()), workload("copy"), workload("odd", options_schema={"type": "nonsense"})]
    service.announce(session, one, said)
    statements: list[str] = []
    event.listen(session.connection(), "before_cursor_execute", lambda *given: statements.append(given[2]))
    for node in (one, two):
        statements.clear()
        service.announce(session, node, said)
        assert [words for words in statements if words.startswith(("INSERT INTO workload", "UPDATE workload"))] == []
    assert len(statements) < 12, "however many workloads a node has"
    has = [
        {entry.name: entry.available for entry in node_workloads(session, [node.id])[node.id]} for node in (one, two)
    ]
    assert has[0] == has[1]
    assert len(has[0]) == len(said)


def test_an_entry_that_a_hello_found_is_not_removed_before_its_node_has_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.transaction() as session:
        cluster = make_cluster(session)
        service.announce(session, make_node(session, cluster, "n1"), [workload("copy")])
        session.execute(delete(NodeWorkload))
    monkeypatch.setattr("iotide_server.workloads.repository.MOST_ENTRIES", 0)
    catalogue = Catalogue(cluster.id)
    with database.transaction() as asking, database.transaction() as removing:
        (entry,) = read_stored(asking, catalogue, [workload("copy")]).entries.values()
        repository.remove_unused(removing, catalogue)
        assert removing.get(Workload, entry.id) is not None
