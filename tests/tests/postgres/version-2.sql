CREATE SCHEMA IF NOT EXISTS agent_memory;
CREATE TABLE agent_memory.version (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    version integer NOT NULL,
    database text NOT NULL
);
CREATE TABLE agent_memory.places (
    tenant bigint NOT NULL,
    place text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, place)
);
CREATE UNIQUE INDEX places_in_any_case ON agent_memory.places (tenant, lower(place));
CREATE TABLE agent_memory.documents (
    tenant bigint NOT NULL,
    place text COLLATE "C" NOT NULL,
    area smallint NOT NULL,
    path text COLLATE "C" NOT NULL,
    version text NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (tenant, place, area, path)
);
ALTER TABLE agent_memory.documents ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE TABLE agent_memory.scopes (
    tenant bigint NOT NULL,
    place text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, place, scope)
);
CREATE TABLE agent_memory.calls (
    tenant bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    made boolean NOT NULL,
    answered_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, key)
);
CREATE INDEX calls_by_time ON agent_memory.calls (answered_at);
CREATE TABLE agent_memory.tenants (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX tenants_in_any_case ON agent_memory.tenants (lower(name));
CREATE DOMAIN agent_memory.tenant AS bigint
    DEFAULT pg_catalog.current_setting('agent_memory.tenant')::bigint;
CREATE FUNCTION agent_memory.instr(text, text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT strpos($1, $2)::bigint $$;
CREATE FUNCTION agent_memory.typeof(text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT CASE WHEN $1 IS NULL THEN 'null' ELSE 'text' END $$;
CREATE FUNCTION agent_memory.unixepoch(text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT CASE WHEN $1 ~ ('^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])'
            '([T ]([01]\d|2[0-4]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-](0\d|1[0-4]):[0-5]\d)?)?$')
        THEN 86400 * (make_date(substr($1, 1, 4)::int, substr($1, 6, 2)::int, 1) - DATE '1970-01-01'
                + substr($1, 9, 2)::bigint - 1)
            + 3600 * coalesce(nullif(substr($1, 12, 2), ''), '0')::bigint
            + 60 * coalesce(nullif(substr($1, 15, 2), ''), '0')::bigint
            + CASE substr($1, 17, 1) WHEN ':' THEN substr($1, 18, 2)::bigint ELSE 0 END
            - CASE WHEN $1 ~ '[+-]\d\d:\d\d$'
                THEN (left(right($1, 6), 1) || '60')::bigint
                    * (60 * left(right($1, 5), 2)::bigint + right($1, 2)::bigint)
                ELSE 0 END
        END $$;
CREATE FUNCTION agent_memory.integers(text) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT ARRAY(SELECT value::bigint FROM json_array_elements_text($1::json) AS a(value)) $$;
CREATE FUNCTION agent_memory.texts(text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT ARRAY(SELECT value FROM json_array_elements_text($1::json) AS a(value)) $$;
CREATE FUNCTION agent_memory.json_each(text) RETURNS TABLE (value text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT a.value FROM json_array_elements_text($1::json) AS a(value) $$;
SET search_path = agent_memory, pg_catalog;
CREATE TABLE agents (
    tenant tenant,
    key bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    name text COLLATE "C" NOT NULL,
    lower_name text COLLATE "C" NOT NULL GENERATED ALWAYS AS (lower(name)) STORED,
    document text COLLATE "C",
    moving text COLLATE "C",
    PRIMARY KEY (tenant, key),
    UNIQUE (tenant, lower_name)
);
CREATE TABLE memories (
    tenant tenant,
    key bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    agent bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    type bigint NOT NULL,
    content text COLLATE "C" NOT NULL,
    category text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    accessed_at bigint NOT NULL,
    access_count bigint NOT NULL,
    tags text COLLATE "C" NOT NULL,
    importance bigint NOT NULL,
    archived bigint NOT NULL,
    bytes bigint NOT NULL,
    folded text COLLATE "C" NOT NULL,
    stamp bigint NOT NULL,
    original text COLLATE "C",
    PRIMARY KEY (tenant, key),
    UNIQUE (tenant, agent, id),
    FOREIGN KEY (tenant, agent) REFERENCES agents
);
CREATE TABLE memory_tags (
    tenant tenant,
    agent bigint NOT NULL,
    tag text COLLATE "C" NOT NULL,
    memory bigint NOT NULL,
    archived bigint NOT NULL,
    PRIMARY KEY (tenant, agent, tag, memory)
);
CREATE INDEX memories_by_key ON memories (tenant, agent, key, stamp);
CREATE INDEX memories_by_created_at ON memories (tenant, agent, created_at DESC, id);
CREATE INDEX memories_by_updated_at ON memories (tenant, agent, updated_at DESC);
CREATE INDEX memories_by_accessed_at ON memories (tenant, agent, accessed_at DESC);
CREATE INDEX memories_by_access_count ON memories (tenant, agent, access_count DESC);
CREATE TABLE core_memories (
    tenant tenant,
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    agent_id text COLLATE "C" NOT NULL,
    memory text COLLATE "C" NOT NULL,
    created_at text COLLATE "C",
    PRIMARY KEY (tenant, id)
);
CREATE INDEX core_memories_by_agent ON core_memories (tenant, agent_id, id);
CREATE TABLE recent_memories (
    tenant tenant,
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    agent_id text COLLATE "C" NOT NULL,
    memory text COLLATE "C" NOT NULL,
    created_at text COLLATE "C",
    PRIMARY KEY (tenant, id)
);
CREATE INDEX recent_memories_by_agent ON recent_memories (tenant, agent_id, id);
CREATE TABLE current_task (
    tenant tenant,
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    agent_id text COLLATE "C" NOT NULL,
    task text COLLATE "C" NOT NULL,
    started_at text COLLATE "C",
    updated_at text COLLATE "C",
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, agent_id)
);
CREATE TABLE episodic_memories (
    tenant tenant,
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    agent_id text COLLATE "C" NOT NULL,
    memory text COLLATE "C" NOT NULL,
    tags text COLLATE "C",
    created_at text COLLATE "C",
    PRIMARY KEY (tenant, id)
);
CREATE INDEX episodic_memories_by_agent ON episodic_memories (tenant, agent_id, id);
CREATE INDEX episodic_memories_by_moment ON episodic_memories (tenant, created_at);
CREATE TABLE memory_compost (
    tenant tenant,
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    agent_id text COLLATE "C" NOT NULL,
    summary text COLLATE "C" NOT NULL,
    original_count bigint,
    archived_at text COLLATE "C",
    PRIMARY KEY (tenant, id)
);
CREATE INDEX memory_compost_by_agent ON memory_compost (tenant, agent_id, id);
CREATE TABLE layers_agents (
    tenant tenant,
    agent_id text COLLATE "C" NOT NULL,
    lower_id text COLLATE "C" NOT NULL GENERATED ALWAYS AS (lower(agent_id)) STORED,
    PRIMARY KEY (tenant, agent_id)
);
CREATE INDEX layers_agents_by_lower_id ON layers_agents (tenant, lower_id);
CREATE TABLE layers_summaries (
    tenant tenant,
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    agent_id text COLLATE "C" NOT NULL,
    compost_id bigint NOT NULL,
    original_count bigint NOT NULL,
    first_id bigint NOT NULL,
    last_id bigint NOT NULL,
    summarizer text COLLATE "C" NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE TABLE layers_batches (
    tenant tenant,
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    agent_id text COLLATE "C" NOT NULL,
    ids text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    leased_until bigint NOT NULL DEFAULT 0,
    created_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, agent_id)
);
CREATE TABLE items (
    tenant tenant,
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    namespace text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    paths text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    ttl_seconds bigint,
    expires_at bigint,
    stamp bigint NOT NULL,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, namespace, key)
);
CREATE INDEX items_by_updated_at ON items (tenant, updated_at, id);
CREATE INDEX items_by_expires_at ON items (tenant, expires_at) WHERE expires_at IS NOT NULL;
CREATE SCHEMA IF NOT EXISTS agent_memory_rows;
DO $$
DECLARE
    found name;
BEGIN
    FOR found IN
        SELECT c.relname FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_attribute AS a
            ON a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped
        WHERE c.relnamespace = 'agent_memory'::regnamespace AND c.relkind = 'r'
            AND a.atttypid = 'agent_memory.tenant'::regtype
    LOOP
        EXECUTE format('CREATE OR REPLACE VIEW agent_memory_rows.%1$I WITH (security_invoker = true) AS '
            'SELECT * FROM agent_memory.%1$I '
            'WHERE tenant = current_setting(''agent_memory.tenant'')::bigint', found);
    END LOOP;
END
$$;
DO $$
DECLARE
    found regclass;
BEGIN
    FOR found IN
        SELECT c.oid FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_attribute AS a
            ON a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped
        WHERE c.relnamespace = 'agent_memory'::regnamespace AND c.relkind IN ('r', 'p')
            AND NOT EXISTS (SELECT FROM pg_catalog.pg_policy AS p
                WHERE p.polrelid = c.oid AND p.polname = 'of_tenant')
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', found);
        EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', found);
        EXECUTE format('CREATE POLICY of_tenant ON %s '
            'USING (tenant = current_setting(''agent_memory.tenant'')::bigint)', found);
    END LOOP;
END
$$;
RESET search_path;
