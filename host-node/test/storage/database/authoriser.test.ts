import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { judge } from '../../../dist/storage/database/statement-text.js'
import { begin, count, insert, storageError, databaseWithTable, single, sql, write } from '../../fixtures/database.ts'

const codeOf = (work: () => unknown, what?: string) => storageError(work, what).code

test('a statement can neither reach beyond the database nor set anything that outlives the call', () => {
  const { base, database } = databaseWithTable()
  const away = join(base, 'away.db')
  for (const text of [
    `ATTACH '${away}' AS away`,
    "ATTACH ':memory:' AS away",
    'DETACH main',
    `SELECT load_extension('${away}')`,
    "SELECT fts3_tokenizer('simple')",
    'BEGIN',
    'BEGIN DEFERRED',
    'BEGIN IMMEDIATE',
    ' COMMIT ',
    'COMMIT',
    'ROLLBACK',
    'SAVEPOINT a',
    'CREATE TEMP TABLE u (x)',
    'CREATE TABLE temp.u (x)',
    'CREATE TEMP VIEW v AS SELECT 1',
    'CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END',
    'PRAGMA journal_mode = WAL',
    'PRAGMA journal_mode = DELETE',
    'PRAGMA synchronous = OFF',
    'PRAGMA Writable_Schema = ON',
    'PRAGMA main.page_size = 512',
    'PRAGMA foreign_keys = OFF',
    'PRAGMA case_sensitive_like = ON',
    'SELECT * FROM pragma_database_list',
  ]) {
    for (const run of [
      () => begin(database, 'write').execute([insert(1), sql(text)]),
      () => begin(database, 'write').query(sql(text), 1),
    ]) {
      assert.equal(codeOf(run, text), 'not-granted', text)
    }
    const outside = codeOf(() => database.query(sql(text), 1))
    assert.ok(['not-granted', 'read-only'].includes(outside), `${text}: ${outside}`)
  }
  const vacuum = sql(`VACUUM INTO '${away}'`)
  assert.equal(
    codeOf(() => database.query(vacuum, 1)),
    'read-only',
  )
  assert.equal(
    codeOf(() => write(database, vacuum)),
    'io',
    'not in a transaction',
  )
  assert.ok(!existsSync(away))
  assert.equal(count(database), 0n)
})

test('the statements that the component needs are granted', () => {
  const { database, open } = databaseWithTable()
  const reads = [
    'PRAGMA user_version',
    'PRAGMA integrity_check',
    'PRAGMA table_info(t)',
    "SELECT name FROM pragma_table_info('t')",
    "SELECT value FROM json_each('[1]')",
  ]
  for (const text of reads) database.query(sql(text), 10)
  write(
    database,
    sql('PRAGMA user_version = 7'),
    sql("CREATE VIRTUAL TABLE f USING fts5(x, tokenize = 'trigram case_sensitive 1')"),
    sql("INSERT INTO f (rowid, x) VALUES (1, 'abcdef')"),
    sql("INSERT INTO f (f) VALUES ('optimize')"),
    sql('ALTER TABLE t RENAME COLUMN x TO y'),
    sql('ALTER TABLE t ADD COLUMN z'),
    sql('CREATE INDEX i ON t (y)'),
    sql('ANALYZE'),
  )
  assert.equal(single(database, 'PRAGMA user_version'), 7n)
  const search = "SELECT rowid FROM f WHERE f MATCH 'bcd'"
  assert.equal(single(database, search), 1n)
  // On a new connection, which reads the schema of the FTS5 table within a read transaction.
  const transaction = begin(open(), 'read')
  assert.equal(single(transaction, search), 1n)
  transaction.end()
})

test('changes need a write transaction', () => {
  const { database } = databaseWithTable()
  const texts = [
    'DELETE FROM t',
    'DROP TABLE t',
    'DROP TABLE IF EXISTS missing',
    'PRAGMA user_version = 7',
    'PRAGMA user_version(7)',
    'VACUUM',
    '/* all */ VACUUM',
    'REINDEX',
    'CREATE TABLE IF NOT EXISTS t (x)',
    'WITH n AS (SELECT 1) INSERT INTO t (x) SELECT * FROM n',
    'EXPLAIN DELETE FROM t',
    'INSERT INTO t (x) VALUES (1) RETURNING x',
  ]
  for (const text of texts)
    assert.equal(
      codeOf(() => begin(database, 'read').query(sql(text), 1)),
      'read-only',
      text,
    )
  assert.equal(
    codeOf(() => begin(database, 'read').execute([insert(1)])),
    'read-only',
  )
  for (const text of texts)
    assert.equal(
      codeOf(() => database.query(sql(text), 1)),
      'read-only',
      text,
    )
})

test('the text of a statement tells an old Node what the authoriser tells', () => {
  const { database } = databaseWithTable()
  for (const [text, expected] of Object.entries({
    "SELECT 'insert' /* delete */ FROM t": 'read',
    'VALUES (1)': 'read',
    'EXPLAIN QUERY PLAN SELECT 1': 'read',
    'WITH r AS (SELECT 1) SELECT * FROM r': 'read',
    'PRAGMA user_version': 'read',
    'PRAGMA table_info(t)': 'read',
    'WITH r AS (SELECT 1) INSERT INTO t SELECT * FROM r': 'write',
    '-- a note\nDELETE FROM t': 'write',
    'REPLACE INTO t VALUES (1)': 'write',
    'PRAGMA user_version = 7': 'write',
    'CREATE TABLE u (x)': 'write',
    "ATTACH ':memory:' AS away": 'denied',
    COMMIT: 'denied',
    'SAVEPOINT a': 'denied',
    VACUUM: 'denied',
    'CREATE TEMP TABLE u (x)': 'denied',
    'CREATE TABLE temp.u (x)': 'denied',
    'PRAGMA journal_mode = WAL': 'denied',
    'PRAGMA main.page_size = 512': 'denied',
    'SELECT * FROM pragma_database_list': 'denied',
    "SELECT load_extension('x')": 'denied',
  })) {
    assert.equal(judge(text), expected, text)
    const isRead = (() => {
      try {
        database.query(sql(text), 10)
        return true
      } catch {
        return false
      }
    })()
    assert.equal(isRead, expected === 'read', text)
  }
})
