import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { grantDirectory } from '../../../dist/storage/named-place.js'
import { listDirectory, readDocument, areasOf } from '../../../dist/storage/tree.js'
import {
  begin,
  blob,
  count,
  impatient,
  insert,
  integer,
  patient,
  refusal,
  scene,
  sceneWithTable,
  single,
  sql,
  write,
} from '../../fixtures/database.ts'
import { databaseIn, place } from '../../fixtures/places.ts'
import { emptyDirectory, readOnlyView } from '../../fixtures/scratch.ts'

const codeOf = (work: () => unknown, what?: string) => refusal(work, what).code

test('no statement reaches beyond the database or outlives the call', () => {
  const { base, database } = sceneWithTable()
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

test('what the core needs is granted', () => {
  const { database, open } = sceneWithTable()
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
  // On a connection that has not seen the table of texts yet, within a transaction that reads.
  const transaction = begin(open(), 'read')
  assert.equal(single(transaction, search), 1n)
  transaction.end()
})

test('changes need a write transaction', () => {
  const { database } = sceneWithTable()
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

test('a statement is one with as many parameters as it takes', () => {
  const { database } = sceneWithTable()
  const one = integer(1)
  for (const [statement, why] of [
    [sql('SELECT 1; SELECT 2'), /one statement/],
    [sql('SELECT 1;; /* and */ SELECT'), /one statement/],
    [sql(''), /one statement/],
    [sql(' -- nothing\n'), /one statement/],
    [sql('/* nothing'), /one statement/],
    [sql('SELECT ?1'), /takes 1 parameters and was given 0/],
    [sql('SELECT ?300', one), /takes 300 parameters and was given 1/],
    [sql('SELECT 1', one), /takes 0 parameters and was given 1/],
    [sql('SELECT nothing'), /nothing/],
    [sql('SELEC'), /SELEC/],
  ] as const) {
    const error = refusal(() => database.query(statement, 1))
    assert.equal(error.code, 'io')
    assert.match(error.message, why)
  }
  for (const text of [
    'SELECT 1;',
    "SELECT 1 -- '",
    'SELECT 1; -- that is all\n ;',
    "SELECT 1 /* ; */ WHERE ';' <> ''",
  ]) {
    assert.deepEqual(database.query(sql(text), 1).rows, [[one]], text)
  }
})

test('what is longer than 16 MiB is too large', () => {
  const { database } = sceneWithTable()
  const most = 16 * 1024 * 1024 - 8
  const zeros = (bytes: number) => sql('SELECT zeroblob(?1)', integer(bytes))
  assert.equal(database.query(zeros(most), 1).rows.length, 1)
  for (const bytes of [most + 1, 1 << 30])
    assert.equal(
      codeOf(() => database.query(zeros(bytes), 1)),
      'too-large',
    )
  const many =
    'WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT zeroblob(1048568) FROM n LIMIT 17'
  assert.equal(database.query(sql(many), 16).rows.length, 16)
  assert.equal(
    codeOf(() => database.query(sql(many), 2 ** 32 - 1)),
    'too-large',
  )
  const long = sql('SELECT length(?1)', blob(new Uint8Array(most + 9)))
  assert.match(refusal(() => database.query(long, 1)).message, /parameters of a statement/)
})

test('text that is not UTF-8 is an error', () => {
  const { database } = sceneWithTable()
  for (const text of ["SELECT CAST(x'ff' AS TEXT)", "SELECT 1, CAST(x'41c3' AS TEXT); -- so"]) {
    const error = refusal(() => database.query(sql(text), 1))
    assert.equal(error.code, 'corrupted')
    assert.match(error.message, /not UTF-8/)
  }
  write(database, sql("INSERT INTO t (x) VALUES ('\ufffd'), (CAST(x'ff' AS TEXT))"))
  assert.equal(
    codeOf(() => database.query(sql('SELECT x FROM t'), 9)),
    'corrupted',
  )
  assert.deepEqual(database.query(sql('SELECT x FROM t WHERE id = ?1', integer(1)), 1).rows, [
    [{ tag: 'text', val: '\ufffd' }],
  ])
})

test('broken constraints that are not unique say which', () => {
  const { database } = sceneWithTable()
  write(database, sql('CREATE TABLE u (y INTEGER NOT NULL REFERENCES t CHECK (y > 0))'))
  for (const value of ['NULL', '0', '7']) {
    const error = refusal(() => write(database, sql(`INSERT INTO u VALUES (${value})`)))
    assert.equal(error.code, 'io')
    assert.match(error.message, /constraint failed/)
  }
})

test('a damaged database is said to be damaged', () => {
  const { at, open } = scene()
  mkdirSync(at(''), { recursive: true })
  writeFileSync(at('memories.db'), 'no database at all'.repeat(1000))
  const error = refusal(open)
  assert.equal(error.code, 'corrupted')
  assert.match(error.message, /damaged/)
})

test('what stands in place of the database is refused', () => {
  const { at, base, open } = scene()
  mkdirSync(at('memories.db'), { recursive: true })
  assert.equal(codeOf(open), 'invalid-path')
  rmSync(at('memories.db'), { recursive: true })
  symlinkSync(join(base, 'away'), at('memories.db'))
  assert.equal(codeOf(open), 'invalid-path')
  assert.ok(!existsSync(join(base, 'away')))
})

test('looking for a database makes nothing', () => {
  const { at, base, open } = scene()
  const missing = refusal(() => open({}, false))
  assert.equal(missing.code, 'not-found')
  assert.equal(missing.message, `there is no database \`${at('memories.db')}\` yet`)
  assert.ok(!existsSync(join(base, 'a')))
})

test('a writer waits for other programs within its patience', () => {
  const { at, open } = sceneWithTable()
  const foreign = new DatabaseSync(at('memories.db'))
  foreign.exec('BEGIN IMMEDIATE')
  const hasty = open({ patience: impatient })
  const busy = refusal(() => begin(hasty, 'write'))
  assert.equal(busy.code, 'busy')
  assert.match(busy.message, /another program kept `.*memories\.db` locked for the 0\.\d s/)
  // Once it has waited, it lets the other one go on.
  const patientOne = open({ patience: patient, onWait: () => foreign.exec('COMMIT') })
  write(patientOne, insert(1))
  assert.equal(count(patientOne), 1n)
})

test('a writer waits for its turn within its patience', () => {
  const { database, open } = sceneWithTable()
  const hasty = open({ patience: impatient })
  const transaction = begin(database, 'write')
  const busy = refusal(() => begin(hasty, 'write'))
  assert.equal(busy.code, 'busy')
  transaction.end()
  begin(hasty, 'write').end()
})

for (const journal of ['WAL', 'DELETE']) {
  test(`a database in \`${journal}\` mode on a medium that can only be read is read`, (context) => {
    const base = emptyDirectory()
    const directory = join(base, 'made')
    mkdirSync(directory)
    const made = new DatabaseSync(join(directory, 'memories.db'))
    made.exec(
      `PRAGMA journal_mode = ${journal}; CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 2)`,
    )
    made.close()
    const at = join(base, 'a view')
    using _ = { [Symbol.dispose]: () => void spawnSync('umount', [at]) }
    const reason = readOnlyView(directory, at)
    if (reason !== undefined) return context.skip(`a bind mount is not possible: ${reason}`)
    const database = databaseIn(at, { durability: 'full', patience: impatient })
    database.open(true)
    assert.equal(count(database), 1n)
    begin(database, 'read').commit()
    const refused = refusal(() => begin(database, 'write'))
    assert.equal(refused.code, 'read-only')
    assert.match(refused.message, /cannot write `.*memories\.db`/)
    assert.deepEqual(listDirectory(areasOf(place(at)), 'documents', ''), [])

    database.close()
    unlinkSync(join(directory, 'memories.db'))
    assert.equal(
      codeOf(() => database.open(true)),
      'read-only',
    )
  })
}

/** A database in WAL mode with a row in its table `t`. */
function madeIn(directory: string): DatabaseSync {
  mkdirSync(directory)
  const made = new DatabaseSync(join(directory, 'memories.db'))
  made.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 2)')
  return made
}

/** The database in a directory that is seen as on a medium that can only be read, where that is possible. */
function viewOf(directory: string, context: TestContext) {
  const at = `${directory} seen`
  const reason = readOnlyView(directory, at)
  if (reason !== undefined) context.skip(`a bind mount is not possible: ${reason}`)
  const database = reason === undefined ? databaseIn(at, { durability: 'full', patience: impatient }) : undefined
  return { database, [Symbol.dispose]: () => void spawnSync('umount', [at]) }
}

test('what others change while it is read as if they did not is no answer', (context) => {
  const directory = join(emptyDirectory(), 'made')
  madeIn(directory).close()
  using view = viewOf(directory, context)
  const { database } = view
  if (database === undefined) return
  database.open(false)
  assert.equal(count(database), 1n)
  const reads = begin(database, 'read')
  const other = new DatabaseSync(join(directory, 'memories.db'))
  other.exec('INSERT INTO t VALUES (2, 3)')
  const rows = sql('SELECT x FROM t')
  for (const query of [() => reads.query(rows, 9), () => database.query(rows, 9)]) {
    const error = refusal(query)
    assert.equal(error.code, 'busy')
    assert.match(error.message, /changed while it was read/)
    other.exec('PRAGMA wal_checkpoint = TRUNCATE')
  }
  database.endCall()
  other.close()
  database.open(false)
  assert.equal(count(database), 2n, 'it was not kept')
  database.close()
})

test('changes that were left beside a database that cannot be written are named', (context) => {
  const base = emptyDirectory()
  const open = madeIn(join(base, 'made'))
  const left = join(base, 'left')
  mkdirSync(left)
  for (const name of ['memories.db', 'memories.db-wal']) copyFileSync(join(base, 'made', name), join(left, name))
  open.close()
  using view = viewOf(left, context)
  const { database } = view
  if (database === undefined) return
  const error = refusal(() => database.open(false))
  assert.equal(error.code, 'read-only')
  assert.match(error.message, /left changes in `.*memories\.db-wal`/)
})

for (const name of ['memories.db-wal', 'memories.db-shm']) {
  test(`what stands in place of \`${name}\` is named`, () => {
    const { at, base, database } = sceneWithTable()
    database.close()
    symlinkSync(join(base, 'away'), at(name))
    const error = refusal(() => database.open(false))
    assert.equal(error.code, 'invalid-path')
    assert.ok(error.message.includes(name), error.message)
  })
}

test('documents and the database of a place do not meet', () => {
  const { base, at } = sceneWithTable()
  const areas = areasOf(place(join(base, 'a/memories')))
  assert.deepEqual(listDirectory(areas, 'documents', ''), [], "the host's own files are hidden")
  for (const own of ['memories.db', 'MEMORIES.DB-wal', '.agent-memory/turn.sqlite', '.Agent-Memory']) {
    const error = refusal(() => readDocument(areas, 'documents', own, 1n))
    assert.equal(error.code, 'invalid-path')
    assert.match(error.message, /keeps for itself/)
    assert.equal(
      codeOf(() => listDirectory(areas, 'documents', own)),
      'invalid-path',
    )
  }
  assert.equal(readDocument(areas, 'documents', 'memories.db.json', 10n), undefined)
  assert.ok(existsSync(at('memories.db')))
})

test('a granted directory need not exist, but nothing else may stand in its place', () => {
  const base = emptyDirectory()
  writeFileSync(join(base, 'file'), '')
  mkdirSync(join(base, 'real'))
  symlinkSync('real', join(base, 'link'))
  assert.equal(grantDirectory(join(base, 'link/b/c')).path, join(base, 'real/b/c'))
  assert.equal(grantDirectory(`${join(base, 'link/b')}//`).location, join(base, 'link/b'))
  for (const [path, why] of [
    [join(base, 'file'), /something other than a directory/],
    [join(base, 'file/below'), /something other than a directory/],
    [`${base}/missing/../real`, /`\.\.` below/],
    ['relative', /absolute/],
    [`${base}/a\0b`, /NUL/],
  ] as const) {
    const error = refusal(() => grantDirectory(path))
    assert.equal(error.code, 'invalid-path')
    assert.match(error.message, why)
  }
})
