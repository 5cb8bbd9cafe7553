//! The tables of toolsets, with the types, functions and views that their statements use.

use tokio_postgres::{Client, Error};

/// The statements that make the tables of toolsets, in order.
#[derive(Clone, Debug, Default)]
pub struct ToolsetTables {
    /// The tables of kept databases. Each table has a column of the type `tenant`.
    pub kept: Vec<String>,
    /// The tables of derived databases. Each table has columns of the types `tenant` and `place`.
    pub derived: Vec<String>,
}

/// The version of the schema that added the tables of kept databases.
const KEPT_SINCE: i32 = 2;

/// The version of the schema that added the tables of derived databases.
const DERIVED_SINCE: i32 = 3;

/// The type of the column `tenant`, and functions that SQLite has under the same names.
///
/// - `unixepoch` gives the seconds of a moment as SQLite reads it, and null for any other text. As in
///   SQLite, the day 31 of a shorter month counts as a day of the next month, and the hour 24 as
///   midnight of the next day.
/// - `integers`, `texts` and `json_each` read an array in JSON.
///
/// PostgreSQL inlines a function that is one expression, but not a `STRICT` one. So no function is
/// `STRICT`.
const FUNCTIONS: &str = r#"
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
"#;

/// For each table of a toolset, makes a view with the same name that has only the tenant's rows; for a
/// table of a derived database, only the rows of the place. The search path finds the views first. So
/// tenants are kept apart also where row-level security is not in force.
const VIEWS: &str = r#"
CREATE SCHEMA IF NOT EXISTS agent_memory_rows;
DO $$
DECLARE
    found name;
    of_place text;
BEGIN
    FOR found, of_place IN
        SELECT c.relname, CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_attribute AS p
                WHERE p.attrelid = c.oid AND p.atttypid = 'agent_memory.place'::regtype)
            THEN 'AND place = current_setting(''agent_memory.place'')' ELSE '' END
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_attribute AS a
            ON a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped
        WHERE c.relnamespace = 'agent_memory'::regnamespace AND c.relkind = 'r'
            AND a.atttypid = 'agent_memory.tenant'::regtype
    LOOP
        EXECUTE format('CREATE OR REPLACE VIEW agent_memory_rows.%1$I WITH (security_invoker = true) AS '
            'SELECT * FROM agent_memory.%1$I '
            'WHERE tenant = current_setting(''agent_memory.tenant'')::bigint %2$s',
            found, of_place);
    END LOOP;
END
$$;
"#;

/// Adds the objects that the schema of version `before` lacks, in the open transaction: the functions,
/// then the tables by the statements of the toolsets, then the views.
pub(crate) async fn make(
    client: &Client,
    before: i32,
    tables: &ToolsetTables,
) -> Result<(), Error> {
    client.batch_execute("SET LOCAL search_path = agent_memory, pg_catalog").await?;
    if before < KEPT_SINCE {
        client.batch_execute(FUNCTIONS).await?;
        for statement in &tables.kept {
            client.batch_execute(statement).await?;
        }
    }
    if before < DERIVED_SINCE {
        for statement in &tables.derived {
            client.batch_execute(statement).await?;
        }
    }
    client.batch_execute(VIEWS).await
}
