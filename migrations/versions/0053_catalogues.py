"""each cluster has its own catalogue; workloads that iotide ships are shared

A workload that several clusters announced becomes one row per cluster; the first cluster keeps the row's id.
Compatible with the previous release: plug-in workloads that it stores meanwhile have no cluster until the node's
hello to this release.

Moving cells to these rows takes longest, and is done before the table of workloads is locked. Rows stored meanwhile
are moved after that.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0053"
down_revision = "0049"
branch_labels = None
depends_on = None

# Digests announced by releases up to this one, from their `built_in.json`.
_SHIPPED = (
    "3dc865d88c2df4aa0ae3e48a43284b1cdceafdffdf6f7edaf66ec9210d01913d",  # bonnie 2
    "f61ca57e4e5b639d58dad97eab85b085ec10cadd457102e0206ab5f78565a2d7",  # create 2
    "483d736f0c62488ad6c176ee52b2e3f7bb54e837541dbbec4e036ff6cf7dbba5",  # create 3
    "a93dc852998e556c5ada6cc86701763a2dab675f752467442da1e8af46124fd1",  # dd 1
    "4c1dbfdf7c0a0ce091f8532f0f573d1092c6bf8bda5f231afc74d0b31c0f0776",  # dd 2
    "ec195b606f8883d78fc29f897b12047cd6472bc350a996fb4c599b9dff3a8260",  # fill 1
    "3f345bdfb675222a3382592cd142338bc5fa541caeecc5602552c87c930fa68f",  # fill 2
    "9cdd27a0a6213d775f980b0a374a6abb0028c415e4a291f067fd0e49d2bb1f06",  # fio 2
    "e322e8ced2dc52601228b5b4fd709b2ef626374ff33f1a785f988b63d43c535f",  # fio 3
    "29b20f841ff6f6a5f57522388de4434264bb3660aba592ef24a1bdc9e2993a48",  # fio 3
    "6c0bb1e5d8061fc5baa0766a647152e3b28f23a20ff93aedf1a5855a69c31156",  # ior 1
    "5934842d44551de2b0d3782c824441014416a9b56b80f427b1d461cc79d2acdd",  # ior 1
    "d4ea90c4347de26109b21e608e3636127aa358ac32f5d29d3826572f2544748e",  # iozone 1
    "4e55db529615d2ef385fcfdd5fb3da0155f2d60005d91d7502b14d41391eb9d7",  # iozone 2
    "0038e382d631c9934fa88d373d6036e99f4f2588acc05d3ac028a8d0179e5020",  # iozone 2
    "f8c443c5bb6b3cf295ef4c83cf8fc8a3dfc97c8d590476e5f100405e0f22c844",  # mdtest 1
    "c07165933a93283c53571f9ef1faa05c2338b959c398d23e1ba8a785ea9483a6",  # mdtest 1
    "cddb5a0e3557408cbd040085ea89341df0498cc7c51b67c1c06c5d5ad07d9fac",  # rawread 1
    "b1dbb56365a75179d1257d1e96d275eef065063afb3c2681b227495ef4982d8a",  # rawread 2
    "ebb5344c716d923a21dca0afb59f74c74fb4d1cdfbd12ff139cafcc7d4447362",  # stream 2
    "548a71c0e5d7c1963cf16caaaaf1c7e12d3b342ae022348a9fdd17ae59a6efd2",  # stream 3
)
# Whether a revision breaks the series, as decided by the first node that announced it.
_KNOWN_BY = """
    UPDATE workload SET series_revision = coalesce(
        (SELECT max(revision) FROM workload AS breaking
         WHERE breaking.name = workload.name AND breaking.breaks_series AND breaking.revision <= workload.revision), 1)
"""
_OWNERS = sa.text(
    """
    SELECT workload.id, owner.cluster_id
    FROM workload
    CROSS JOIN LATERAL (
        SELECT node.cluster_id FROM node_workload JOIN node ON node.id = node_workload.node_id
        WHERE node_workload.workload_id = workload.id
        UNION
        SELECT campaign.cluster_id FROM cell JOIN campaign ON campaign.id = cell.campaign_id
        WHERE cell.workload_id = workload.id
    ) AS owner
    WHERE workload.schema_sha256 <> ALL(:shipped) AND workload.schema_sha256 NOT LIKE '%@%'
    ORDER BY workload.id, owner.cluster_id
    """
).bindparams(sa.bindparam("shipped", type_=postgresql.ARRAY(sa.Text())))
_COPIED = (
    "name, revision, title, description, options_schema, option_defaults, metrics, bytes_needed, bytes_moved,"
    " run_seconds, breaks_series, step_roles, tool, first_seen_at"
)
_COPY = sa.text(
    f"""
    INSERT INTO workload ({_COPIED}, schema_sha256)
    SELECT {_COPIED}, schema_sha256 || '@' || CAST(:cluster_id AS bigint)
    FROM workload WHERE id = :id
    ON CONFLICT (name, revision, schema_sha256) DO UPDATE SET tool = excluded.tool RETURNING id
    """  # noqa: S608 - made of the constant above
)
_OWN = sa.text("UPDATE workload SET schema_sha256 = schema_sha256 || '@' || CAST(:cluster_id AS bigint) WHERE id = :id")
_NAME_CLUSTERS = """
    UPDATE workload SET cluster_id = CAST(split_part(schema_sha256, '@', 2) AS bigint) WHERE schema_sha256 LIKE '%@%'
"""
_MOVE_NODES = sa.text(
    "UPDATE node_workload SET workload_id = :copy FROM node"
    " WHERE workload_id = :id AND node.id = node_id AND node.cluster_id = :cluster_id"
)
_MOVE_CELLS = sa.text(
    "UPDATE cell SET workload_id = :copy FROM campaign"
    " WHERE workload_id = :id AND campaign.id = campaign_id AND campaign.cluster_id = :cluster_id"
)
_BASELINES = """
    INSERT INTO workload_baseline (name, option_defaults)
    SELECT DISTINCT ON (own.name, own.cluster_id) own.name || '@' || own.cluster_id, baseline.option_defaults
    FROM workload AS own JOIN workload_baseline AS baseline ON baseline.name = own.name
    WHERE own.cluster_id IS NOT NULL
"""
# Among rows that are equal except for the cluster, the one with the lowest id.
_KEPT = """
    SELECT id, first_value(id) OVER (
        PARTITION BY name, revision, split_part(schema_sha256, '@', 1) ORDER BY id
    ) AS kept FROM workload
"""


def upgrade() -> None:
    _part_cells()
    op.add_column("workload", sa.Column("cluster_id", sa.BigInteger(), nullable=True))
    op.create_foreign_key(op.f("fk_workload_cluster_id"), "workload", "cluster", ["cluster_id"], ["id"])
    op.add_column("workload", sa.Column("series_revision", sa.BigInteger(), server_default="1", nullable=False))
    op.add_column("workload", sa.Column("announced_by", sa.String(), nullable=True))
    op.create_index("ix_workload_cluster_id_name", "workload", ["cluster_id", "name"])
    connection = op.get_bind()
    for workload_id, cluster_id in _part_cells().items():
        connection.execute(_OWN, {"id": workload_id, "cluster_id": cluster_id})
    op.execute(_NAME_CLUSTERS)
    op.execute(_KNOWN_BY)
    op.execute(_BASELINES)


def _part_cells() -> dict[int, int]:
    """Give each cluster except the first its own row, and return the first cluster's row by workload id."""
    connection = op.get_bind()
    first: dict[int, int] = {}
    for row in connection.execute(_OWNERS, {"shipped": list(_SHIPPED)}).all():
        if first.setdefault(row.id, row.cluster_id) == row.cluster_id:
            continue
        named = {"id": row.id, "cluster_id": row.cluster_id}
        named["copy"] = connection.scalar(_COPY, named)
        connection.execute(_MOVE_NODES, named)
        connection.execute(_MOVE_CELLS, named)
    return first


def downgrade() -> None:
    for table in ("node_workload", "cell"):
        op.execute(
            f"UPDATE {table} SET workload_id = kept FROM ({_KEPT}) AS alike"  # noqa: S608 - constants above
            " WHERE workload_id = alike.id AND alike.id <> kept"
        )
    op.execute(
        f"DELETE FROM workload USING ({_KEPT}) AS alike"  # noqa: S608 - made of the constant above
        " WHERE workload.id = alike.id AND alike.id <> kept"
    )
    op.execute("UPDATE workload SET schema_sha256 = split_part(schema_sha256, '@', 1)")
    op.execute(
        "INSERT INTO workload_baseline (name, option_defaults)"
        " SELECT DISTINCT ON (1) split_part(name, '@', 1), option_defaults FROM workload_baseline"
        " WHERE name LIKE '%@%' ORDER BY 1 ON CONFLICT (name) DO NOTHING"
    )
    op.execute("DELETE FROM workload_baseline WHERE name LIKE '%@%'")
    op.drop_index("ix_workload_cluster_id_name", "workload")
    op.drop_column("workload", "announced_by")
    op.drop_column("workload", "series_revision")
    op.drop_constraint(op.f("fk_workload_cluster_id"), "workload", type_="foreignkey")
    op.drop_column("workload", "cluster_id")
