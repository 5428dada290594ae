-- Schema of release 0.1.0, in the order of references. Later migrations start from it; it never changes.

CREATE TABLE audit_entry (
    at timestamptz DEFAULT now() NOT NULL,
    principal_kind varchar NOT NULL,
    principal_id bigint,
    principal_name varchar NOT NULL,
    address varchar,
    action varchar NOT NULL,
    subject_kind varchar NOT NULL,
    subject_id bigint,
    cluster_id bigint,
    before jsonb,
    after jsonb,
    id bigserial CONSTRAINT pk_audit_entry PRIMARY KEY
);
CREATE INDEX ix_audit_entry_cluster_id_id ON audit_entry (cluster_id, id DESC);

CREATE TABLE blob (
    sha256 varchar CONSTRAINT pk_blob PRIMARY KEY,
    content bytea NOT NULL
);

CREATE TABLE change (
    at timestamptz DEFAULT now() NOT NULL,
    kind varchar NOT NULL,
    subject_id bigint NOT NULL,
    cluster_id bigint,
    id bigserial CONSTRAINT pk_change PRIMARY KEY
);
CREATE INDEX ix_change_at ON change (at);

CREATE TABLE environment (
    sha256 varchar CONSTRAINT pk_environment PRIMARY KEY,
    facts jsonb NOT NULL
);

CREATE TABLE published_source (
    id bigserial CONSTRAINT pk_published_source PRIMARY KEY,
    key varchar NOT NULL CONSTRAINT uq_published_source_key UNIQUE,
    edition_sha256 varchar NOT NULL,
    printed jsonb NOT NULL
);

CREATE TABLE user_account (
    name varchar NOT NULL CONSTRAINT uq_user_account_name UNIQUE,
    password_hash varchar,
    created_at timestamptz DEFAULT now() NOT NULL,
    disabled_at timestamptz,
    id bigserial CONSTRAINT pk_user_account PRIMARY KEY
);

CREATE TABLE api_token (
    user_id bigint NOT NULL CONSTRAINT fk_api_token_user_id REFERENCES user_account ON DELETE CASCADE,
    name varchar NOT NULL,
    secret_sha256 varchar NOT NULL CONSTRAINT uq_api_token_secret_sha256 UNIQUE,
    scopes text[] NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz,
    id bigserial CONSTRAINT pk_api_token PRIMARY KEY
);

CREATE TABLE cluster (
    name varchar NOT NULL CONSTRAINT uq_cluster_name UNIQUE,
    description varchar DEFAULT '' NOT NULL,
    owner_id bigint CONSTRAINT fk_cluster_owner_id REFERENCES user_account ON DELETE SET NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    id bigserial CONSTRAINT pk_cluster PRIMARY KEY,
    shared_leases bigint DEFAULT '0'::bigint NOT NULL,
    exclusive_leases bigint DEFAULT '0'::bigint NOT NULL,
    cooling_until timestamptz,
    launcher varchar DEFAULT 'direct' NOT NULL,
    origin varchar DEFAULT 'own' NOT NULL,
    CONSTRAINT ck_cluster_launcher CHECK (launcher IN ('direct', 'slurm', 'lsf')),
    CONSTRAINT ck_cluster_leases CHECK (exclusive_leases BETWEEN 0 AND 1 AND shared_leases >= 0 AND
        (exclusive_leases = 0 OR shared_leases = 0)),
    CONSTRAINT ck_cluster_origin CHECK (origin IN ('own', 'made_up', 'published'))
);
CREATE INDEX ix_cluster_published ON cluster (id) WHERE origin = 'published';

CREATE TABLE alert_group (
    id bigserial CONSTRAINT pk_alert_group PRIMARY KEY,
    cluster_id bigint NOT NULL CONSTRAINT fk_alert_group_cluster_id REFERENCES cluster,
    kind varchar NOT NULL,
    at timestamptz NOT NULL,
    window_from timestamptz NOT NULL,
    window_until timestamptz NOT NULL,
    node_ids bigint[] NOT NULL,
    is_environment boolean DEFAULT false NOT NULL,
    created_at timestamptz NOT NULL,
    told_at timestamptz,
    CONSTRAINT ck_alert_group_kind CHECK (kind IN ('change', 'missing'))
);
CREATE INDEX ix_alert_group_cluster_id_at ON alert_group (cluster_id, at);

CREATE TABLE blackout (
    id bigserial CONSTRAINT pk_blackout PRIMARY KEY,
    cluster_id bigint NOT NULL CONSTRAINT fk_blackout_cluster_id REFERENCES cluster ON DELETE CASCADE,
    starts_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    reason varchar NOT NULL,
    owner_id bigint CONSTRAINT fk_blackout_owner_id REFERENCES user_account ON DELETE SET NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT ck_blackout_ends_at CHECK (starts_at < ends_at)
);
CREATE INDEX ix_blackout_cluster_id_ends_at ON blackout (cluster_id, ends_at);

CREATE TABLE campaign (
    cluster_id bigint NOT NULL CONSTRAINT fk_campaign_cluster_id REFERENCES cluster,
    name varchar NOT NULL,
    owner_id bigint CONSTRAINT fk_campaign_owner_id REFERENCES user_account ON DELETE SET NULL,
    plan jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    cancelled_at timestamptz,
    idempotency_key varchar,
    request_sha256 varchar NOT NULL,
    id bigserial CONSTRAINT pk_campaign PRIMARY KEY,
    CONSTRAINT uq_campaign_owner_id_idempotency_key UNIQUE (owner_id, idempotency_key)
);
CREATE INDEX ix_campaign_cluster_id_id ON campaign (cluster_id, id);

CREATE TABLE campaign_addition (
    id bigserial CONSTRAINT pk_campaign_addition PRIMARY KEY,
    campaign_id bigint NOT NULL CONSTRAINT fk_campaign_addition_campaign_id REFERENCES campaign ON DELETE CASCADE,
    owner_id bigint CONSTRAINT fk_campaign_addition_owner_id REFERENCES user_account ON DELETE SET NULL,
    repeats bigint NOT NULL,
    cell_ids bigint[] NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    idempotency_key varchar,
    request_sha256 varchar NOT NULL,
    CONSTRAINT uq_campaign_addition_owner_id_idempotency_key UNIQUE (owner_id, idempotency_key)
);
CREATE INDEX ix_campaign_addition_campaign_id ON campaign_addition (campaign_id);

CREATE TABLE campaign_stage (
    campaign_id bigint NOT NULL CONSTRAINT fk_campaign_stage_campaign_id REFERENCES campaign ON DELETE CASCADE,
    ordinal bigint NOT NULL,
    variant varchar NOT NULL,
    pause varchar,
    state varchar NOT NULL,
    paused_at timestamptz,
    looked_at timestamptz,
    opened_at timestamptz,
    confirmed_by varchar,
    found jsonb DEFAULT '[]' NOT NULL,
    CONSTRAINT pk_campaign_stage PRIMARY KEY (campaign_id, ordinal),
    CONSTRAINT ck_campaign_stage_state CHECK (state IN ('held', 'paused', 'open'))
);
CREATE INDEX ix_campaign_stage_held ON campaign_stage (campaign_id) WHERE state = 'held';

CREATE TABLE campaign_window (
    campaign_id bigint CONSTRAINT pk_campaign_window PRIMARY KEY,
    is_open boolean NOT NULL,
    opens_at timestamptz NOT NULL,
    start_by timestamptz NOT NULL,
    turns_at timestamptz,
    CONSTRAINT fk_campaign_window_campaign_id FOREIGN KEY (campaign_id) REFERENCES campaign ON DELETE CASCADE
);
CREATE INDEX ix_campaign_window_turns_at ON campaign_window (turns_at) WHERE turns_at IS NOT NULL;

CREATE TABLE channel (
    id bigserial CONSTRAINT pk_channel PRIMARY KEY,
    cluster_id bigint CONSTRAINT fk_channel_cluster_id REFERENCES cluster ON DELETE CASCADE,
    name varchar NOT NULL,
    kind varchar NOT NULL,
    settings jsonb NOT NULL,
    sealed varchar,
    quiet_hours jsonb,
    digest jsonb,
    digest_due_at timestamptz,
    owner_id bigint CONSTRAINT fk_channel_owner_id REFERENCES user_account ON DELETE SET NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    delivered_at timestamptz,
    failed_at timestamptz,
    failure varchar,
    CONSTRAINT uq_channel_cluster_id_name UNIQUE NULLS NOT DISTINCT (cluster_id, name),
    CONSTRAINT ck_channel_digest CHECK ((digest IS NULL) = (digest_due_at IS NULL)),
    CONSTRAINT ck_channel_kind CHECK (kind IN ('email', 'webhook', 'slack', 'mattermost'))
);

CREATE TABLE delivery (
    id bigserial CONSTRAINT pk_delivery PRIMARY KEY,
    channel_id bigint NOT NULL CONSTRAINT fk_delivery_channel_id REFERENCES channel ON DELETE CASCADE,
    key varchar NOT NULL,
    message_id uuid DEFAULT gen_random_uuid() NOT NULL,
    kind varchar NOT NULL,
    cluster_id bigint CONSTRAINT fk_delivery_cluster_id REFERENCES cluster ON DELETE CASCADE,
    subject varchar NOT NULL,
    text varchar NOT NULL,
    path varchar NOT NULL,
    data jsonb NOT NULL,
    state varchar NOT NULL,
    created_at timestamptz NOT NULL,
    due_at timestamptz,
    ended_at timestamptz,
    attempts jsonb DEFAULT '[]' NOT NULL,
    CONSTRAINT uq_delivery_channel_id_key UNIQUE (channel_id, key),
    CONSTRAINT ck_delivery_kind CHECK (kind IN ('alert', 'digest', 'test')),
    CONSTRAINT ck_delivery_state CHECK (state IN ('waiting', 'delivered', 'failed'))
);
CREATE INDEX ix_delivery_channel_id_id ON delivery (channel_id, id);
CREATE INDEX ix_delivery_created_at ON delivery (created_at);

CREATE TABLE drain (
    kind varchar NOT NULL,
    subject_id bigint NOT NULL,
    cluster_id bigint CONSTRAINT fk_drain_cluster_id REFERENCES cluster ON DELETE CASCADE,
    reason varchar NOT NULL,
    by varchar NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz,
    CONSTRAINT pk_drain PRIMARY KEY (kind, subject_id),
    CONSTRAINT ck_drain_cluster CHECK ((kind = 'all') = (cluster_id IS NULL)),
    CONSTRAINT ck_drain_kind CHECK (kind IN ('all', 'cluster', 'node', 'target'))
);

CREATE TABLE fair_share (
    cluster_id bigint NOT NULL CONSTRAINT fk_fair_share_cluster_id REFERENCES cluster ON DELETE CASCADE,
    owner_id bigint NOT NULL,
    nodes_used double precision NOT NULL,
    stands_back_seconds double precision NOT NULL,
    sampled_at timestamptz NOT NULL,
    CONSTRAINT pk_fair_share PRIMARY KEY (cluster_id, owner_id)
);

CREATE TABLE join_token (
    cluster_id bigint NOT NULL CONSTRAINT fk_join_token_cluster_id REFERENCES cluster ON DELETE CASCADE,
    secret_sha256 varchar NOT NULL CONSTRAINT uq_join_token_secret_sha256 UNIQUE,
    uses_left bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    owner_id bigint CONSTRAINT fk_join_token_owner_id REFERENCES user_account ON DELETE SET NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    id bigserial CONSTRAINT pk_join_token PRIMARY KEY,
    CONSTRAINT ck_join_token_uses_left CHECK (uses_left >= 0)
);

CREATE TABLE login_link (
    user_id bigint NOT NULL CONSTRAINT fk_login_link_user_id REFERENCES user_account ON DELETE CASCADE,
    secret_sha256 varchar NOT NULL CONSTRAINT uq_login_link_secret_sha256 UNIQUE,
    expires_at timestamptz NOT NULL,
    used_at timestamptz,
    id bigserial CONSTRAINT pk_login_link PRIMARY KEY
);

CREATE TABLE node (
    cluster_id bigint NOT NULL CONSTRAINT fk_node_cluster_id REFERENCES cluster,
    name varchar NOT NULL,
    role varchar NOT NULL,
    slots bigint DEFAULT '1'::bigint NOT NULL,
    owner_id bigint CONSTRAINT fk_node_owner_id REFERENCES user_account ON DELETE SET NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    retired_at timestamptz,
    token_sha256 varchar NOT NULL CONSTRAINT uq_node_token_sha256 UNIQUE,
    redis_password_sha256 varchar NOT NULL,
    agent_version varchar,
    agent_instance varchar,
    boot_id varchar,
    facts jsonb DEFAULT '{}' NOT NULL,
    mounts jsonb DEFAULT '[]' NOT NULL,
    approved_directories text[] DEFAULT '{}'::text[] NOT NULL,
    problem varchar,
    id bigserial CONSTRAINT pk_node PRIMARY KEY,
    shared_leases bigint DEFAULT '0'::bigint NOT NULL,
    exclusive_leases bigint DEFAULT '0'::bigint NOT NULL,
    cooling_until timestamptz,
    told_at timestamptz,
    look_asked bigint DEFAULT '0'::bigint NOT NULL,
    look_answered bigint DEFAULT '0'::bigint NOT NULL,
    declared_dead_at timestamptz,
    CONSTRAINT ck_node_leases CHECK (exclusive_leases BETWEEN 0 AND 1 AND shared_leases >= 0 AND
        (exclusive_leases = 0 OR shared_leases = 0) AND shared_leases <= slots),
    CONSTRAINT ck_node_role CHECK (role IN ('compute', 'storage', 'gateway')),
    CONSTRAINT ck_node_slots CHECK (slots BETWEEN 1 AND 1000)
);
CREATE INDEX ix_node_cooling_until ON node (cooling_until) WHERE cooling_until IS NOT NULL;
CREATE UNIQUE INDEX uq_node_cluster_id_name ON node (cluster_id, name) WHERE retired_at IS NULL;

CREATE TABLE node_beat (
    node_id bigint CONSTRAINT pk_node_beat PRIMARY KEY,
    seen_at timestamptz NOT NULL,
    CONSTRAINT fk_node_beat_node_id FOREIGN KEY (node_id) REFERENCES node ON DELETE CASCADE
) WITH (fillfactor = 50);

CREATE TABLE published_campaign (
    campaign_id bigint CONSTRAINT pk_published_campaign PRIMARY KEY,
    source_id bigint NOT NULL,
    CONSTRAINT fk_published_campaign_campaign_id FOREIGN KEY (campaign_id) REFERENCES campaign ON DELETE CASCADE,
    CONSTRAINT fk_published_campaign_source_id FOREIGN KEY (source_id) REFERENCES published_source
        ON DELETE CASCADE
);
CREATE INDEX ix_published_campaign_source_id ON published_campaign (source_id);

CREATE TABLE role_grant (
    user_id bigint NOT NULL CONSTRAINT fk_role_grant_user_id REFERENCES user_account ON DELETE CASCADE,
    cluster_id bigint CONSTRAINT fk_role_grant_cluster_id REFERENCES cluster ON DELETE CASCADE,
    role varchar NOT NULL,
    id bigserial CONSTRAINT pk_role_grant PRIMARY KEY,
    CONSTRAINT uq_role_grant_user_id_cluster_id UNIQUE NULLS NOT DISTINCT (user_id, cluster_id),
    CONSTRAINT ck_role_grant_role CHECK (role IN ('viewer', 'operator', 'admin'))
);

CREATE TABLE saved_view (
    id bigserial CONSTRAINT pk_saved_view PRIMARY KEY,
    user_id bigint NOT NULL CONSTRAINT fk_saved_view_user_id REFERENCES user_account ON DELETE CASCADE,
    name varchar NOT NULL,
    query varchar NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT uq_saved_view_user_id_name UNIQUE (user_id, name)
);

CREATE TABLE schedule (
    id bigserial CONSTRAINT pk_schedule PRIMARY KEY,
    cluster_id bigint NOT NULL CONSTRAINT fk_schedule_cluster_id REFERENCES cluster,
    name varchar NOT NULL,
    owner_id bigint CONSTRAINT fk_schedule_owner_id REFERENCES user_account ON DELETE SET NULL,
    plan jsonb NOT NULL,
    cron varchar NOT NULL,
    monthly varchar,
    time_zone varchar NOT NULL,
    random_offset_seconds double precision NOT NULL,
    ends_at timestamptz,
    max_firings bigint,
    missed varchar NOT NULL,
    state varchar NOT NULL,
    firings_made bigint DEFAULT '0'::bigint NOT NULL,
    planned_at timestamptz,
    due_at timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    removed_at timestamptz,
    CONSTRAINT ck_schedule_due_at CHECK ((state = 'active') = (due_at IS NOT NULL)),
    CONSTRAINT ck_schedule_missed CHECK (missed IN ('skip', 'run_once')),
    CONSTRAINT ck_schedule_state CHECK (state IN ('active', 'paused', 'ended'))
);
CREATE INDEX ix_schedule_due_at ON schedule (due_at) WHERE state = 'active';
CREATE UNIQUE INDEX uq_schedule_cluster_id_name ON schedule (cluster_id, name) WHERE removed_at IS NULL;

CREATE TABLE firing (
    id bigserial CONSTRAINT pk_firing PRIMARY KEY,
    schedule_id bigint NOT NULL CONSTRAINT fk_firing_schedule_id REFERENCES schedule,
    planned_at timestamptz NOT NULL,
    fired_at timestamptz NOT NULL,
    campaign_id bigint CONSTRAINT fk_firing_campaign_id REFERENCES campaign,
    problem varchar,
    missed bigint DEFAULT '0'::bigint NOT NULL,
    asked_by varchar,
    CONSTRAINT uq_firing_schedule_id_planned_at UNIQUE (schedule_id, planned_at),
    CONSTRAINT ck_firing_outcome CHECK (campaign_id IS NULL OR problem IS NULL)
);
CREATE INDEX ix_firing_campaign_id ON firing (campaign_id);
CREATE INDEX ix_firing_schedule_id_id ON firing (schedule_id, id);

CREATE TABLE series (
    key_sha256 varchar NOT NULL CONSTRAINT uq_series_key_sha256 UNIQUE,
    cluster_id bigint NOT NULL CONSTRAINT fk_series_cluster_id REFERENCES cluster,
    node_ids bigint[] NOT NULL,
    target_ids bigint[] NOT NULL,
    workload varchar NOT NULL,
    series_revision bigint NOT NULL,
    options jsonb NOT NULL,
    options_sha256 varchar NOT NULL,
    metric varchar NOT NULL,
    title varchar NOT NULL,
    unit varchar NOT NULL,
    better varchar NOT NULL,
    labels jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    id bigserial CONSTRAINT pk_series PRIMARY KEY,
    variant varchar DEFAULT '' NOT NULL
);
CREATE INDEX ix_series_cluster_id_id ON series (cluster_id, id);
CREATE INDEX ix_series_target_ids ON series USING gin (target_ids);

CREATE TABLE series_course (
    series_id bigint CONSTRAINT pk_series_course PRIMARY KEY,
    course varchar NOT NULL,
    point_count bigint NOT NULL,
    missing_points bigint NOT NULL,
    memory double precision NOT NULL,
    drift jsonb,
    suspect jsonb,
    detector varchar NOT NULL,
    analysed_at timestamptz NOT NULL,
    noise jsonb,
    CONSTRAINT fk_series_course_series_id FOREIGN KEY (series_id) REFERENCES series ON DELETE CASCADE,
    CONSTRAINT ck_series_course_course CHECK (course IN ('too_short', 'steady', 'changed', 'drift')),
    CONSTRAINT ck_series_course_drift CHECK ((course = 'drift') = (drift IS NOT NULL))
);

CREATE TABLE series_mute (
    series_id bigint CONSTRAINT pk_series_mute PRIMARY KEY,
    until timestamptz NOT NULL,
    who varchar NOT NULL,
    CONSTRAINT fk_series_mute_series_id FOREIGN KEY (series_id) REFERENCES series ON DELETE CASCADE
);

CREATE TABLE target (
    cluster_id bigint NOT NULL CONSTRAINT fk_target_cluster_id REFERENCES cluster,
    name varchar NOT NULL,
    path varchar NOT NULL,
    scope varchar NOT NULL,
    reserve_bytes bigint,
    owner_id bigint CONSTRAINT fk_target_owner_id REFERENCES user_account ON DELETE SET NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    retired_at timestamptz,
    id bigserial CONSTRAINT pk_target PRIMARY KEY,
    shared_leases bigint DEFAULT '0'::bigint NOT NULL,
    exclusive_leases bigint DEFAULT '0'::bigint NOT NULL,
    cooling_until timestamptz,
    confirms_suspects boolean DEFAULT false NOT NULL,
    CONSTRAINT ck_target_leases CHECK (exclusive_leases BETWEEN 0 AND 1 AND shared_leases >= 0 AND
        (exclusive_leases = 0 OR shared_leases = 0)),
    CONSTRAINT ck_target_reserve_bytes CHECK (reserve_bytes >= 0),
    CONSTRAINT ck_target_scope CHECK (scope IN ('node', 'shared'))
);
CREATE INDEX ix_target_cooling_until ON target (cooling_until) WHERE cooling_until IS NOT NULL;
CREATE UNIQUE INDEX uq_target_cluster_id_name ON target (cluster_id, name) WHERE retired_at IS NULL;

CREATE TABLE alert_rule (
    id bigserial CONSTRAINT pk_alert_rule PRIMARY KEY,
    cluster_id bigint NOT NULL CONSTRAINT fk_alert_rule_cluster_id REFERENCES cluster,
    name varchar NOT NULL,
    target_id bigint CONSTRAINT fk_alert_rule_target_id REFERENCES target,
    workload varchar,
    metric varchar,
    least_shift_ratio double precision NOT NULL,
    directions varchar NOT NULL,
    missing_runs boolean NOT NULL,
    control_workload varchar,
    muted_until timestamptz,
    created_at timestamptz NOT NULL,
    removed_at timestamptz,
    CONSTRAINT ck_alert_rule_directions CHECK (directions IN ('worse', 'both')),
    CONSTRAINT ck_alert_rule_least_shift_ratio CHECK (least_shift_ratio > 0)
);
CREATE UNIQUE INDEX uq_alert_rule_cluster_id_name ON alert_rule (cluster_id, name) WHERE removed_at IS NULL;

CREATE TABLE alert_rule_channel (
    rule_id bigint NOT NULL CONSTRAINT fk_alert_rule_channel_rule_id REFERENCES alert_rule ON DELETE CASCADE,
    channel_id bigint NOT NULL CONSTRAINT fk_alert_rule_channel_channel_id REFERENCES channel,
    CONSTRAINT pk_alert_rule_channel PRIMARY KEY (rule_id, channel_id)
);
CREATE INDEX ix_alert_rule_channel_channel_id ON alert_rule_channel (channel_id);

CREATE TABLE target_backing (
    target_id bigint NOT NULL CONSTRAINT fk_target_backing_target_id REFERENCES target ON DELETE CASCADE,
    backing_id bigint NOT NULL CONSTRAINT fk_target_backing_backing_id REFERENCES target ON DELETE CASCADE,
    CONSTRAINT pk_target_backing PRIMARY KEY (target_id, backing_id),
    CONSTRAINT ck_target_backing_itself CHECK (target_id <> backing_id)
);
CREATE INDEX ix_target_backing_backing_id ON target_backing (backing_id);

CREATE TABLE target_mount (
    target_id bigint NOT NULL CONSTRAINT fk_target_mount_target_id REFERENCES target ON DELETE CASCADE,
    node_id bigint NOT NULL CONSTRAINT fk_target_mount_node_id REFERENCES node ON DELETE CASCADE,
    path varchar NOT NULL,
    fstype varchar NOT NULL,
    source varchar NOT NULL,
    mount_options varchar NOT NULL,
    total_bytes bigint,
    free_bytes bigint,
    seen_at timestamptz NOT NULL,
    problem varchar,
    mount_point varchar,
    root varchar,
    identity varchar,
    CONSTRAINT pk_target_mount PRIMARY KEY (target_id, node_id)
);
CREATE INDEX ix_target_mount_node_id ON target_mount (node_id);
CREATE INDEX ix_target_mount_problem ON target_mount (node_id) WHERE problem IS NOT NULL;

CREATE TABLE template (
    id bigserial CONSTRAINT pk_template PRIMARY KEY,
    cluster_id bigint NOT NULL CONSTRAINT fk_template_cluster_id REFERENCES cluster ON DELETE CASCADE,
    name varchar NOT NULL,
    owner_id bigint CONSTRAINT fk_template_owner_id REFERENCES user_account ON DELETE SET NULL,
    plan jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    changed_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT uq_template_cluster_id_name UNIQUE (cluster_id, name)
);

CREATE TABLE user_session (
    user_id bigint NOT NULL CONSTRAINT fk_user_session_user_id REFERENCES user_account ON DELETE CASCADE,
    secret_sha256 varchar NOT NULL CONSTRAINT uq_user_session_secret_sha256 UNIQUE,
    created_at timestamptz DEFAULT now() NOT NULL,
    last_seen_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    id bigserial CONSTRAINT pk_user_session PRIMARY KEY
);

CREATE TABLE work (
    kind varchar NOT NULL,
    key bigint NOT NULL,
    due_at timestamptz NOT NULL,
    version bigint DEFAULT '1'::bigint NOT NULL,
    done_version bigint DEFAULT '0'::bigint NOT NULL,
    sends bigint DEFAULT '0'::bigint NOT NULL,
    failure varchar,
    held_until timestamptz,
    CONSTRAINT pk_work PRIMARY KEY (kind, key)
);
CREATE INDEX ix_work_due ON work (due_at) WHERE done_version < version;

CREATE TABLE workload (
    name varchar NOT NULL,
    revision bigint NOT NULL,
    schema_sha256 varchar NOT NULL,
    title varchar NOT NULL,
    description varchar NOT NULL,
    options_schema json NOT NULL,
    option_defaults jsonb NOT NULL,
    metrics jsonb NOT NULL,
    bytes_needed jsonb NOT NULL,
    bytes_moved jsonb NOT NULL,
    breaks_series boolean NOT NULL,
    tool varchar NOT NULL,
    first_seen_at timestamptz DEFAULT now() NOT NULL,
    id bigserial CONSTRAINT pk_workload PRIMARY KEY,
    run_seconds jsonb DEFAULT '{"kind": "number", "value": 0}' NOT NULL,
    step_roles jsonb DEFAULT '[]' NOT NULL,
    CONSTRAINT uq_workload_name_revision_schema_sha256 UNIQUE (name, revision, schema_sha256)
);

CREATE TABLE cell (
    campaign_id bigint NOT NULL CONSTRAINT fk_cell_campaign_id REFERENCES campaign,
    ordinal bigint NOT NULL,
    workload_id bigint NOT NULL CONSTRAINT fk_cell_workload_id REFERENCES workload,
    options jsonb NOT NULL,
    options_sha256 varchar NOT NULL,
    bytes_needed double precision NOT NULL,
    bytes_moved double precision NOT NULL,
    id bigserial CONSTRAINT pk_cell PRIMARY KEY,
    stage bigint DEFAULT '1'::bigint NOT NULL,
    variant varchar DEFAULT '' NOT NULL,
    CONSTRAINT uq_cell_campaign_id_ordinal UNIQUE (campaign_id, ordinal)
);
CREATE INDEX ix_cell_workload_id ON cell (workload_id);

CREATE TABLE cell_node (
    cell_id bigint NOT NULL CONSTRAINT fk_cell_node_cell_id REFERENCES cell ON DELETE CASCADE,
    node_id bigint NOT NULL CONSTRAINT fk_cell_node_node_id REFERENCES node,
    step_role varchar,
    CONSTRAINT pk_cell_node PRIMARY KEY (cell_id, node_id),
    CONSTRAINT ck_cell_node_step_role CHECK (step_role IN ('sender', 'receiver'))
);
CREATE INDEX ix_cell_node_node_id ON cell_node (node_id);

CREATE TABLE cell_observer (
    cell_id bigint NOT NULL CONSTRAINT fk_cell_observer_cell_id REFERENCES cell ON DELETE CASCADE,
    node_id bigint NOT NULL CONSTRAINT fk_cell_observer_node_id REFERENCES node,
    CONSTRAINT pk_cell_observer PRIMARY KEY (cell_id, node_id)
);
CREATE INDEX ix_cell_observer_node_id ON cell_observer (node_id);

CREATE TABLE cell_target (
    cell_id bigint NOT NULL CONSTRAINT fk_cell_target_cell_id REFERENCES cell ON DELETE CASCADE,
    target_id bigint NOT NULL CONSTRAINT fk_cell_target_target_id REFERENCES target,
    CONSTRAINT pk_cell_target PRIMARY KEY (cell_id, target_id)
);
CREATE INDEX ix_cell_target_target_id ON cell_target (target_id);

CREATE TABLE change_point (
    id bigserial CONSTRAINT pk_change_point PRIMARY KEY,
    series_id bigint NOT NULL CONSTRAINT fk_change_point_series_id REFERENCES series ON DELETE CASCADE,
    at timestamptz NOT NULL,
    previous_at timestamptz NOT NULL,
    cell_id bigint NOT NULL CONSTRAINT fk_change_point_cell_id REFERENCES cell,
    points_before bigint NOT NULL,
    points_after bigint NOT NULL,
    median_before double precision NOT NULL,
    median_after double precision NOT NULL,
    shift_ratio double precision,
    p_value double precision NOT NULL,
    found_at timestamptz NOT NULL,
    found_points bigint NOT NULL,
    confirmed_at timestamptz,
    gone_at timestamptz,
    detector varchar NOT NULL
);
CREATE INDEX ix_change_point_series_id_at ON change_point (series_id, at);
CREATE INDEX ix_change_point_told ON change_point (id) WHERE (confirmed_at IS NOT NULL) AND (gone_at IS NULL);

CREATE TABLE node_workload (
    node_id bigint NOT NULL CONSTRAINT fk_node_workload_node_id REFERENCES node ON DELETE CASCADE,
    workload_id bigint NOT NULL CONSTRAINT fk_node_workload_workload_id REFERENCES workload,
    available boolean NOT NULL,
    unavailable_because varchar,
    tool_version varchar,
    CONSTRAINT pk_node_workload PRIMARY KEY (node_id, workload_id)
);

CREATE TABLE point (
    series_id bigint NOT NULL CONSTRAINT fk_point_series_id REFERENCES series,
    cell_id bigint NOT NULL CONSTRAINT fk_point_cell_id REFERENCES cell,
    campaign_id bigint NOT NULL CONSTRAINT fk_point_campaign_id REFERENCES campaign,
    at timestamptz NOT NULL,
    median double precision NOT NULL,
    low double precision NOT NULL,
    high double precision NOT NULL,
    run_count bigint NOT NULL,
    variation_ratio double precision,
    robust_spread_ratio double precision,
    flags jsonb DEFAULT '[]' NOT NULL,
    id bigserial CONSTRAINT pk_point PRIMARY KEY,
    CONSTRAINT uq_point_cell_id_series_id UNIQUE (cell_id, series_id)
);
CREATE INDEX ix_point_series_id_at ON point (series_id, at);

CREATE TABLE run (
    campaign_id bigint NOT NULL CONSTRAINT fk_run_campaign_id REFERENCES campaign,
    cell_id bigint NOT NULL CONSTRAINT fk_run_cell_id REFERENCES cell,
    cluster_id bigint NOT NULL CONSTRAINT fk_run_cluster_id REFERENCES cluster,
    repeat bigint NOT NULL,
    state varchar DEFAULT 'waiting' NOT NULL,
    validity varchar DEFAULT 'valid' NOT NULL,
    flags jsonb DEFAULT '[]' NOT NULL,
    overdue boolean DEFAULT false NOT NULL,
    exclusive varchar NOT NULL,
    sort_key double precision NOT NULL,
    time_limit_seconds double precision NOT NULL,
    attempts_allowed bigint NOT NULL,
    attempts_made bigint DEFAULT '0'::bigint NOT NULL,
    declines bigint DEFAULT '0'::bigint NOT NULL,
    not_before timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    ended_at timestamptz,
    reason_code varchar,
    reason varchar,
    environment_sha256 varchar,
    id bigserial CONSTRAINT pk_run PRIMARY KEY,
    cool_down_seconds double precision DEFAULT '0'::double precision NOT NULL,
    CONSTRAINT uq_run_cell_id_repeat UNIQUE (cell_id, repeat),
    CONSTRAINT ck_run_exclusive CHECK (exclusive IN ('none', 'node', 'node+target', 'cluster')),
    CONSTRAINT ck_run_state CHECK (state IN ('waiting', 'active', 'finished', 'failed', 'cancelled')),
    CONSTRAINT ck_run_validity CHECK (validity IN ('valid', 'rejected'))
);
CREATE INDEX ix_run_campaign_id_id ON run (campaign_id, id);
CREATE INDEX ix_run_campaign_id_state ON run (campaign_id, state);
CREATE INDEX ix_run_cluster_id_id ON run (cluster_id, id);
CREATE INDEX ix_run_cluster_id_moment ON run (cluster_id, coalesce(started_at, created_at), id);
CREATE INDEX ix_run_duration ON run ((ended_at - started_at), id)
    WHERE ended_at IS NOT NULL AND started_at IS NOT NULL;
CREATE INDEX ix_run_flags ON run USING gin (flags jsonb_path_ops) WHERE flags <> '[]';
CREATE INDEX ix_run_moment ON run (coalesce(started_at, created_at), id);
CREATE INDEX ix_run_open ON run (state, sort_key) WHERE state IN ('waiting', 'active');
CREATE INDEX ix_run_overdue ON run (id) WHERE overdue;

CREATE TABLE attempt (
    run_id bigint NOT NULL CONSTRAINT fk_attempt_run_id REFERENCES run,
    ordinal bigint NOT NULL,
    state varchar DEFAULT 'open' NOT NULL,
    fence bigint NOT NULL,
    go_at timestamptz,
    opened_at timestamptz DEFAULT now() NOT NULL,
    ended_at timestamptz,
    reason_code varchar,
    reason varchar,
    id bigserial CONSTRAINT pk_attempt PRIMARY KEY,
    go_agreed_at timestamptz,
    go_put_offs bigint DEFAULT '0'::bigint NOT NULL,
    CONSTRAINT uq_attempt_run_id_ordinal UNIQUE (run_id, ordinal),
    CONSTRAINT ck_attempt_state CHECK (state IN ('open', 'finished', 'failed', 'cancelled', 'declined', 'lost'))
);
CREATE UNIQUE INDEX uq_attempt_open ON attempt (run_id) WHERE state = 'open';

CREATE TABLE batch_job (
    attempt_id bigint CONSTRAINT pk_batch_job PRIMARY KEY,
    cluster_id bigint NOT NULL CONSTRAINT fk_batch_job_cluster_id REFERENCES cluster ON DELETE CASCADE,
    system varchar NOT NULL,
    state varchar DEFAULT 'wanted' NOT NULL,
    job_id varchar,
    ending varchar,
    words varchar DEFAULT '' NOT NULL,
    started_at timestamptz,
    is_over boolean DEFAULT false NOT NULL,
    CONSTRAINT fk_batch_job_attempt_id FOREIGN KEY (attempt_id) REFERENCES attempt ON DELETE CASCADE,
    CONSTRAINT ck_batch_job_state CHECK (state IN ('wanted', 'pending', 'running', 'ended')),
    CONSTRAINT ck_batch_job_system CHECK (system IN ('slurm', 'lsf'))
);
CREATE INDEX ix_batch_job_open ON batch_job (cluster_id) WHERE NOT is_over;

CREATE TABLE event (
    id bigserial CONSTRAINT pk_event PRIMARY KEY,
    cluster_id bigint NOT NULL CONSTRAINT fk_event_cluster_id REFERENCES cluster,
    kind varchar NOT NULL,
    since timestamptz NOT NULL,
    at timestamptz NOT NULL,
    text varchar NOT NULL,
    node_ids bigint[] NOT NULL,
    target_ids bigint[] NOT NULL,
    run_id bigint CONSTRAINT fk_event_run_id REFERENCES run,
    told_by varchar,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT ck_event_at CHECK (since <= at),
    CONSTRAINT ck_event_kind CHECK (kind IN ('environment', 'manual'))
);
CREATE INDEX ix_event_cluster_id_at ON event (cluster_id, at);
CREATE INDEX ix_event_run_id ON event (run_id);

CREATE TABLE alert (
    id bigserial CONSTRAINT pk_alert PRIMARY KEY,
    cluster_id bigint NOT NULL CONSTRAINT fk_alert_cluster_id REFERENCES cluster,
    series_id bigint NOT NULL CONSTRAINT fk_alert_series_id REFERENCES series ON DELETE CASCADE,
    kind varchar NOT NULL,
    state varchar NOT NULL,
    change_point_id bigint CONSTRAINT uq_alert_change_point_id UNIQUE,
    silent_since timestamptz,
    schedule_id bigint CONSTRAINT fk_alert_schedule_id REFERENCES schedule,
    rule_id bigint CONSTRAINT fk_alert_rule_id REFERENCES alert_rule,
    group_id bigint CONSTRAINT fk_alert_group_id REFERENCES alert_group,
    at timestamptz NOT NULL,
    window_from timestamptz NOT NULL,
    window_until timestamptz NOT NULL,
    raised_at timestamptz NOT NULL,
    owner_id bigint CONSTRAINT fk_alert_owner_id REFERENCES user_account ON DELETE SET NULL,
    due_at timestamptz,
    event_id bigint CONSTRAINT fk_alert_event_id REFERENCES event ON DELETE SET NULL,
    closed_because varchar,
    state_before varchar,
    baseline_level double precision,
    baseline_at timestamptz,
    confirmation_id bigint CONSTRAINT fk_alert_confirmation_id REFERENCES campaign,
    CONSTRAINT uq_alert_series_id_silent_since UNIQUE (series_id, silent_since),
    CONSTRAINT fk_alert_change_point_id FOREIGN KEY (change_point_id) REFERENCES change_point ON DELETE CASCADE,
    CONSTRAINT ck_alert_baseline CHECK ((baseline_at IS NULL) = (baseline_level IS NULL)),
    CONSTRAINT ck_alert_closed CHECK ((state = 'closed') = (closed_because IS NOT NULL)),
    CONSTRAINT ck_alert_kind CHECK (kind IN ('change', 'missing')),
    CONSTRAINT ck_alert_silent_since CHECK ((kind = 'missing') = (silent_since IS NOT NULL)),
    CONSTRAINT ck_alert_state CHECK (state IN ('suspect', 'untriaged', 'acknowledged', 'investigating',
        'expected', 'noise', 'wont_fix', 'fixed', 'verified', 'recovered', 'closed'))
);
CREATE INDEX ix_alert_cluster_id_id ON alert (cluster_id, id);
CREATE INDEX ix_alert_group_id ON alert (group_id);
CREATE INDEX ix_alert_rule_id ON alert (rule_id);
CREATE UNIQUE INDEX uq_alert_suspect ON alert (series_id) WHERE state = 'suspect';

CREATE TABLE alert_action (
    id bigserial CONSTRAINT pk_alert_action PRIMARY KEY,
    alert_id bigint NOT NULL CONSTRAINT fk_alert_action_alert_id REFERENCES alert ON DELETE CASCADE,
    at timestamptz DEFAULT now() NOT NULL,
    who varchar,
    action varchar NOT NULL,
    comment varchar NOT NULL,
    before jsonb NOT NULL,
    after jsonb NOT NULL
);
CREATE INDEX ix_alert_action_alert_id ON alert_action (alert_id, id);

CREATE TABLE event_effect (
    event_id bigint NOT NULL CONSTRAINT fk_event_effect_event_id REFERENCES event ON DELETE CASCADE,
    series_id bigint NOT NULL CONSTRAINT fk_event_effect_series_id REFERENCES series ON DELETE CASCADE,
    look bigint DEFAULT '0'::bigint NOT NULL,
    effect varchar DEFAULT 'pending' NOT NULL,
    points_before bigint DEFAULT '0'::bigint NOT NULL,
    points_after bigint DEFAULT '0'::bigint NOT NULL,
    shift_ratio double precision,
    p_value double precision,
    CONSTRAINT pk_event_effect PRIMARY KEY (event_id, series_id),
    CONSTRAINT ck_event_effect_effect CHECK (effect IN ('too_few_before', 'pending', 'none_shown', 'shifted'))
);
CREATE INDEX ix_event_effect_series_id ON event_effect (series_id);

CREATE TABLE line_place (
    node_id bigint NOT NULL CONSTRAINT fk_line_place_node_id REFERENCES node,
    run_id bigint NOT NULL CONSTRAINT fk_line_place_run_id REFERENCES run,
    sort_key double precision NOT NULL,
    not_before timestamptz,
    shared_target_ids bigint[] NOT NULL,
    owner_id bigint DEFAULT '0'::bigint NOT NULL,
    target_ids bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    node_count bigint DEFAULT '0'::bigint NOT NULL,
    CONSTRAINT pk_line_place PRIMARY KEY (node_id, run_id)
);
CREATE INDEX ix_line_place_line ON line_place (node_id, owner_id, sort_key, run_id) INCLUDE (not_before, target_ids);
CREATE INDEX ix_line_place_not_before ON line_place (not_before) WHERE not_before IS NOT NULL;
CREATE INDEX ix_line_place_owner_id ON line_place (owner_id);
CREATE INDEX ix_line_place_run_id ON line_place (run_id);

CREATE TABLE node_order (
    attempt_id bigint NOT NULL CONSTRAINT fk_node_order_attempt_id REFERENCES attempt,
    run_id bigint NOT NULL CONSTRAINT fk_node_order_run_id REFERENCES run,
    node_id bigint NOT NULL CONSTRAINT fk_node_order_node_id REFERENCES node,
    role varchar NOT NULL,
    state varchar DEFAULT 'offered' NOT NULL,
    offers_made bigint DEFAULT '0'::bigint NOT NULL,
    offered_at timestamptz DEFAULT now() NOT NULL,
    next_offer_at timestamptz DEFAULT now(),
    claimed_at timestamptz,
    claimed_by varchar,
    claimed_boot_id varchar,
    started_at timestamptz,
    ended_at timestamptz,
    progress double precision,
    phase varchar DEFAULT '' NOT NULL,
    silent_since timestamptz,
    cancel_wanted_at timestamptz,
    outcome varchar,
    result_sha256 varchar,
    steps jsonb DEFAULT '[]' NOT NULL,
    id bigserial CONSTRAINT pk_node_order PRIMARY KEY,
    environment_sha256 varchar,
    foreign_load jsonb,
    endpoint jsonb,
    go_heard_at timestamptz,
    CONSTRAINT uq_node_order_attempt_id_node_id_role UNIQUE (attempt_id, node_id, role),
    CONSTRAINT ck_node_order_role CHECK (role IN ('load', 'observe')),
    CONSTRAINT ck_node_order_state CHECK (state IN ('offered', 'claimed', 'preflight', 'ready', 'running',
        'uploading', 'ended'))
);
CREATE INDEX ix_node_order_active ON node_order (node_id) WHERE state <> 'ended';
CREATE INDEX ix_node_order_next_offer_at ON node_order (next_offer_at) WHERE next_offer_at IS NOT NULL;
CREATE INDEX ix_node_order_run_id ON node_order (run_id);
CREATE INDEX ix_node_order_silent ON node_order (node_id) WHERE silent_since IS NOT NULL;

CREATE TABLE artefact (
    run_id bigint NOT NULL CONSTRAINT fk_artefact_run_id REFERENCES run,
    order_id bigint NOT NULL CONSTRAINT fk_artefact_order_id REFERENCES node_order,
    name varchar NOT NULL,
    sha256 varchar NOT NULL CONSTRAINT fk_artefact_sha256 REFERENCES blob (sha256),
    size_bytes bigint NOT NULL,
    stored_at timestamptz DEFAULT now() NOT NULL,
    id bigserial CONSTRAINT pk_artefact PRIMARY KEY,
    CONSTRAINT uq_artefact_order_id_name UNIQUE (order_id, name)
);
CREATE INDEX ix_artefact_run_id ON artefact (run_id);

CREATE TABLE curve_chunk (
    order_id bigint NOT NULL CONSTRAINT fk_curve_chunk_order_id REFERENCES node_order,
    counter varchar NOT NULL,
    started_at timestamptz NOT NULL,
    step_seconds double precision NOT NULL,
    "values" real[] NOT NULL,
    id bigserial CONSTRAINT pk_curve_chunk PRIMARY KEY,
    CONSTRAINT uq_curve_chunk_order_id_counter_started_at UNIQUE (order_id, counter, started_at),
    CONSTRAINT ck_curve_chunk_values CHECK (cardinality("values") BETWEEN 1 AND 600)
);
-- Ten minutes of a curve stay in their row. Each heartbeat that adds to them would write a TOAST value again.
ALTER TABLE curve_chunk ALTER COLUMN "values" SET STORAGE MAIN;

CREATE TABLE lease (
    order_id bigint NOT NULL CONSTRAINT fk_lease_order_id REFERENCES node_order,
    resource_kind varchar NOT NULL,
    resource_id bigint NOT NULL,
    mode varchar NOT NULL,
    active boolean DEFAULT true NOT NULL,
    taken_at timestamptz DEFAULT now() NOT NULL,
    released_at timestamptz,
    id bigserial CONSTRAINT pk_lease PRIMARY KEY,
    CONSTRAINT uq_lease_order_id_resource_kind_resource_id UNIQUE (order_id, resource_kind, resource_id),
    CONSTRAINT ck_lease_mode CHECK (mode IN ('shared', 'exclusive')),
    CONSTRAINT ck_lease_released CHECK (active = (released_at IS NULL)),
    CONSTRAINT ck_lease_resource_kind CHECK (resource_kind IN ('node', 'target', 'cluster'))
);
CREATE INDEX ix_lease_active ON lease (resource_kind, resource_id) WHERE active;

CREATE TABLE reading (
    id bigserial CONSTRAINT pk_reading PRIMARY KEY,
    run_id bigint NOT NULL CONSTRAINT fk_reading_run_id REFERENCES run,
    order_id bigint NOT NULL CONSTRAINT fk_reading_order_id REFERENCES node_order,
    ordinal bigint NOT NULL,
    workload_revision bigint NOT NULL,
    parser_version varchar,
    read_at timestamptz NOT NULL,
    read_by varchar,
    flags jsonb NOT NULL,
    samples jsonb,
    CONSTRAINT uq_reading_order_id_ordinal UNIQUE (order_id, ordinal)
);
CREATE INDEX ix_reading_run_id ON reading (run_id);

CREATE TABLE run_event (
    run_id bigint NOT NULL CONSTRAINT fk_run_event_run_id REFERENCES run,
    order_id bigint CONSTRAINT fk_run_event_order_id REFERENCES node_order,
    at timestamptz DEFAULT now() NOT NULL,
    kind varchar NOT NULL,
    text varchar NOT NULL,
    id bigserial CONSTRAINT pk_run_event PRIMARY KEY
);
CREATE INDEX ix_run_event_run_id_id ON run_event (run_id, id);

CREATE TABLE run_headline (
    run_id bigint CONSTRAINT pk_run_headline PRIMARY KEY,
    workload varchar NOT NULL,
    series_id bigint NOT NULL CONSTRAINT fk_run_headline_series_id REFERENCES series,
    value double precision NOT NULL,
    CONSTRAINT fk_run_headline_run_id FOREIGN KEY (run_id) REFERENCES run ON DELETE CASCADE
);
CREATE INDEX ix_run_headline_series_id ON run_headline (series_id);
CREATE INDEX ix_run_headline_workload_value_run_id ON run_headline (workload, value, run_id);

CREATE TABLE sample (
    run_id bigint NOT NULL CONSTRAINT fk_sample_run_id REFERENCES run,
    order_id bigint NOT NULL CONSTRAINT fk_sample_order_id REFERENCES node_order,
    series_id bigint NOT NULL CONSTRAINT fk_sample_series_id REFERENCES series,
    target_id bigint CONSTRAINT fk_sample_target_id REFERENCES target,
    value double precision NOT NULL,
    id bigserial CONSTRAINT pk_sample PRIMARY KEY
);
CREATE INDEX ix_sample_run_id ON sample (run_id);
CREATE INDEX ix_sample_series_id_run_id ON sample (series_id, run_id);

CREATE TABLE workload_baseline (
    name varchar CONSTRAINT pk_workload_baseline PRIMARY KEY,
    option_defaults jsonb NOT NULL
);

CREATE FUNCTION count_lease() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    step integer := CASE WHEN TG_OP = 'INSERT' THEN 1 ELSE -1 END;
    changed bigint;
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.active THEN
        RAISE EXCEPTION 'a released lease stays released (lease %)', OLD.id;
    END IF;
    EXECUTE format(
        'UPDATE %I SET %I = %I + $1 WHERE id = $2',
        NEW.resource_kind, NEW.mode || '_leases', NEW.mode || '_leases'
    ) USING step, NEW.resource_id;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed <> 1 THEN
        RAISE EXCEPTION 'no % with id % to lease', NEW.resource_kind, NEW.resource_id;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER lease_taken AFTER INSERT ON lease FOR EACH ROW WHEN (NEW.active) EXECUTE FUNCTION count_lease();
CREATE TRIGGER lease_released AFTER UPDATE OF active ON lease FOR EACH ROW
    WHEN (OLD.active IS DISTINCT FROM NEW.active) EXECUTE FUNCTION count_lease();
CREATE FUNCTION keep_active_lease() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an active lease is released, not deleted (lease %)', OLD.id;
END
$$;
CREATE TRIGGER lease_kept BEFORE DELETE ON lease FOR EACH ROW WHEN (OLD.active) EXECUTE FUNCTION keep_active_lease();
