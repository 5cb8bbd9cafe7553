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
