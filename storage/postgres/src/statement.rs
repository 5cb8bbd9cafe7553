//! One statement of a toolset: the checks before it is sent, and reading its rows.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use agent_memory_storage::database::{Effect, Rows, Statement, Value};
use agent_memory_storage::{Error, ErrorCode};
use futures_util::Stream;
use tokio_postgres::{Client, Row};

use super::error::NO_NUL;
use super::query::{self, Parameter};
use super::statement_error::StatementError;
use super::value::{Column, parameter};

/// The maximum size of a query's result and of a statement's parameters, in bytes: 16 MiB.
const MAX_ROWS_BYTES: usize = 16 * 1024 * 1024;

/// The size that each value counts towards the maximum, beside its text or blob, in bytes.
const VALUE_BYTES: usize = 8;

/// The first words of the statements that a call may run.
const GRANTED: [&str; 6] = ["select", "with", "values", "insert", "update", "delete"];

/// A checked statement, with PostgreSQL's numbers of parameters.
pub(crate) struct Prepared {
    sql: String,
    parameters: Vec<Parameter>,
    /// Whether the statement is a SELECT or VALUES: the rows of its answer do not count as changed.
    is_select: bool,
}

impl Prepared {
    /// # Errors
    ///
    /// `not-granted`, `too-large`; `io` if the number of parameters is wrong, or if a statement that
    /// changes something has a text with NUL.
    pub fn new(statement: &Statement) -> Result<Self, Error> {
        let (sql, takes) = numbered(&statement.sql);
        let word = sql.split(|c: char| !c.is_ascii_alphabetic()).find(|word| !word.is_empty());
        let word = word.unwrap_or_default().to_ascii_lowercase();
        // The tenant and the schema are PostgreSQL settings, which a statement could change. This check
        // finds mistakes in the SQL of our toolsets. It does not stop hostile SQL, and neither do
        // row-level security and the views: they trust these settings.
        if !GRANTED.contains(&&*word) || sql.to_ascii_lowercase().contains("set_config") {
            let message = "a statement that is not granted: it may only read and change rows";
            return Err(Error::new(ErrorCode::NotGranted, message));
        }
        let given = statement.parameters.len();
        if takes != given {
            let message = format!("the statement takes {takes} parameters and was given {given}");
            return Err(Error::new(ErrorCode::Io, message));
        }
        if statement.parameters.iter().map(bytes).sum::<usize>() > MAX_ROWS_BYTES {
            let message =
                format!("the parameters of a statement are longer than {MAX_ROWS_BYTES} bytes");
            return Err(Error::new(ErrorCode::TooLarge, message));
        }
        let is_select = ["select", "values"].contains(&&*word);
        let has_nul = |value: &Value| matches!(value, Value::Text(text) if text.contains('\0'));
        if !is_select && statement.parameters.iter().any(has_nul) {
            return Err(Error::new(ErrorCode::Io, NO_NUL));
        }
        // No text in the database has NUL, so a comparison with such a text must find nothing. Sending
        // null instead of the text has this effect.
        let sent = |value: &Value| parameter(if has_nul(value) { &Value::Null } else { value });
        let parameters = statement.parameters.iter().map(sent).collect();
        Ok(Prepared { sql, parameters, is_select })
    }

    /// Runs the statement, and returns at most `max_rows` of its rows. Without rows, `columns` is
    /// empty.
    pub async fn rows(&self, client: &Client, max_rows: u32) -> Result<Rows, StatementError> {
        let mut rows = pin!(query::stream(client, &self.sql, &self.parameters).await?);
        let mut answer = Rows::default();
        let mut room = MAX_ROWS_BYTES;
        while let Some(row) = poll_fn(|context| rows.as_mut().poll_next(context)).await {
            let row = row?;
            if answer.rows.is_empty() {
                let columns = row.columns().iter();
                answer.columns = columns.map(|column| column.name().to_owned()).collect();
            }
            if answer.rows.len() == max_rows as usize {
                answer.truncated = true;
                break;
            }
            answer.rows.push(values(&row, &mut room)?);
        }
        Ok(answer)
    }

    /// Runs the statement, and returns the number of rows that it changed.
    async fn effect(&self, client: &Client) -> Result<Effect, tokio_postgres::Error> {
        let rows = query::execute(client, &self.sql, &self.parameters).await?;
        Ok(Effect { changes: if self.is_select { 0 } else { rows } })
    }
}

/// Runs statements in order, in one round trip. The first that fails ends them.
pub(crate) async fn execute(
    client: &Client,
    statements: &[Prepared],
) -> Result<Vec<Effect>, StatementError> {
    let running = statements.iter().map(|statement| Box::pin(statement.effect(client)));
    let mut running: Vec<_> = running.collect();
    let mut early = Vec::with_capacity(running.len());
    for statement in &mut running {
        // The first poll sends the statement. So all are sent before the first answer is awaited.
        early.push(poll_fn(|context| Poll::Ready(statement.as_mut().poll(context))).await);
    }
    let mut effects = Vec::with_capacity(running.len());
    for (statement, early) in running.into_iter().zip(early) {
        effects.push(match early {
            Poll::Ready(done) => done?,
            Poll::Pending => statement.await?,
        });
    }
    Ok(effects)
}

fn bytes(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Blob(blob) => blob.len(),
        Value::Null | Value::Integer(_) | Value::Real(_) => 0,
    }
}

fn values(row: &Row, room: &mut usize) -> Result<Vec<Value>, StatementError> {
    let mut values = Vec::with_capacity(row.len());
    for index in 0..row.len() {
        let Column(value) = row.try_get(index).map_err(|error| {
            let message = format!("a value of the database cannot be read: {error}");
            Error::new(ErrorCode::Io, message)
        })?;
        *room = room.checked_sub(VALUE_BYTES + bytes(&value)).ok_or_else(|| {
            let message = format!(
                "the rows of a statement are longer than {MAX_ROWS_BYTES} bytes: ask for fewer"
            );
            Error::new(ErrorCode::TooLarge, message)
        })?;
        values.push(value);
    }
    Ok(values)
}

/// Replaces `?1` by `$1` in a statement, outside quotes and comments. Also returns the highest number.
fn numbered(sql: &str) -> (String, usize) {
    let mut numbered = String::with_capacity(sql.len());
    let mut highest = 0;
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let number = rest.strip_prefix('?').map(|text| &text[..digits(text)]);
        if let Some(number) = number.filter(|number| !number.is_empty()) {
            highest = highest.max(number.parse().unwrap_or(usize::MAX));
            numbered.push('$');
            numbered += number;
            rest = &rest[1 + number.len()..];
            continue;
        }
        let end = end_of_quoted(rest, numbered.chars().next_back()).unwrap_or(first.len_utf8());
        numbered += &rest[..end];
        rest = &rest[end..];
    }
    (numbered, highest)
}

/// The end of the quoted text or the comment with which `text` begins. `None` if it begins with
/// neither. `before` is the character before it, which may be the `E` of `E'...'`.
fn end_of_quoted(text: &str, before: Option<char>) -> Option<usize> {
    let after = |start: usize, end: &str| {
        text[start..].find(end).map_or(text.len(), |at| start + at + end.len())
    };
    // A doubled quote within a text counts as the end of one text and the beginning of the next.
    match text.as_bytes() {
        [b'\'', ..] if before.is_some_and(|c| c.eq_ignore_ascii_case(&'e')) => {
            let mut is_escaped = false;
            let end = text[1..].find(|c| {
                let is_end = c == '\'' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                is_end
            });
            Some(end.map_or(text.len(), |at| at + 2))
        }
        [b'\'', ..] => Some(after(1, "'")),
        [b'"', ..] => Some(after(1, "\"")),
        [b'-', b'-', ..] => Some(after(2, "\n")),
        [b'/', b'*', ..] => Some(after(2, "*/")),
        [b'$', ..] => {
            let tag = text[1..].find(|c: char| !c.is_alphanumeric() && c != '_')? + 1;
            let tag = text[tag..].starts_with('$').then(|| &text[..=tag])?;
            Some(after(tag.len(), tag))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_parameters_are_those_of_postgresql_outside_of_quotes_and_comments() {
        for (sql, expected, highest) in [
            ("SELECT ?1, ?12", "SELECT $1, $12", 12),
            ("SELECT '?1', \"?2\", ?3", "SELECT '?1', \"?2\", $3", 3),
            ("SELECT 'it''s ?1' || ?2", "SELECT 'it''s ?1' || $2", 2),
            (r"SELECT E'\'?1' || ?2", r"SELECT E'\'?1' || $2", 2),
            ("SELECT 1 -- ?1\n, ?2 /* ?3 */", "SELECT 1 -- ?1\n, $2 /* ?3 */", 2),
            ("SELECT $$?1$$, $a$ ?2 $$ $a$, ?3", "SELECT $$?1$$, $a$ ?2 $$ $a$, $3", 3),
            ("SELECT 'é?1', ?1é", "SELECT 'é?1', $1é", 1),
            ("SELECT a ? 'b'", "SELECT a ? 'b'", 0),
            ("SELECT '?1", "SELECT '?1", 0),
            ("?", "?", 0),
            ("", "", 0),
        ] {
            assert_eq!(numbered(sql), (expected.to_owned(), highest), "{sql}");
        }
    }

    #[test]
    fn only_statements_on_rows_are_granted() {
        let prepared = |sql: &str| {
            let statement = Statement { sql: sql.to_owned(), parameters: Vec::new() };
            Prepared::new(&statement).map(drop).map_err(|error| error.code)
        };
        for sql in ["SELECT 1", "\n select 1", "WITH a AS (SELECT 1) SELECT * FROM a", "VALUES (1)"]
        {
            assert_eq!(prepared(sql), Ok(()), "{sql}");
        }
        for sql in
            ["", "COMMIT", "SET a.b = 'c'", "COPY a TO '/b'", "SELECT SET_CONFIG('a.b', 'c', true)"]
        {
            assert_eq!(prepared(sql), Err(ErrorCode::NotGranted), "{sql}");
        }
        // Several statements in one text need no check here: PostgreSQL refuses them.
    }
}
