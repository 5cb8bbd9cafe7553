import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { journalMode } from '../../../dist/storage/database/connection.js'
import {
  begin,
  blob,
  count,
  insert,
  integer,
  refusal,
  scene,
  sceneWithTable,
  single,
  sql,
  text,
  type Value,
  write,
} from '../../fixtures/database.ts'
import { intercept } from '../../fixtures/scratch.ts'

test('values come back as they went in', () => {
  const { database } = sceneWithTable()
  const values: Value[] = [
    { tag: 'null' },
    integer(-(2n ** 63n)),
    integer(2n ** 63n - 1n),
    integer(2n ** 53n + 1n),
    { tag: 'real', val: 0.1 },
    { tag: 'real', val: 1 },
    { tag: 'real', val: Infinity },
    { tag: 'real', val: 5e-324 },
    text(''),
    text('a\0b ß \u{10ffff} \'"'),
    text('a replacement \ufffd'),
    blob(new Uint8Array()),
    blob(new Uint8Array([0, 0xff, 0x80])),
  ]
  for (const value of values) {
    const transaction = begin(database, 'write')
    const returned = transaction.query(sql('INSERT INTO t (x) VALUES (?1) RETURNING x, ?1', value), 10)
    assert.deepEqual(returned, { columns: ['x', '?1'], rows: [[value, value]], truncated: false })
    transaction.commit()
  }
  const kept = database.query(sql('SELECT x FROM t ORDER BY id'), 100)
  assert.deepEqual(kept.rows.flat(), values)
  const nan = database.query(sql('SELECT ?1', { tag: 'real', val: NaN }), 1)
  assert.deepEqual(nan.rows, [[{ tag: 'null' }]])
})

test('a query gives no more rows than asked for and says whether there were', () => {
  const { database } = sceneWithTable()
  write(database, insert(1), insert(2), insert(3))
  for (const [most, given, truncated] of [
    [0, 0, true],
    [2, 2, true],
    [3, 3, false],
    [4, 3, false],
  ] as const) {
    const rows = database.query(sql('SELECT x FROM t'), most)
    assert.deepEqual([rows.rows.length, rows.truncated], [given, truncated])
  }
  const transaction = begin(database, 'write')
  const some = transaction.query(sql('UPDATE t SET x = x + 10 RETURNING x'), 1)
  assert.deepEqual([some.rows.length, some.truncated], [1, true])
  transaction.commit()
  assert.equal(single(database, 'SELECT min(x) FROM t'), 11n)
})

test('effects count rows and name the last insert of the transaction', () => {
  const { database } = sceneWithTable()
  const effects = write(
    database,
    sql('UPDATE t SET x = 0'),
    insert(7),
    sql('INSERT INTO t (x) VALUES (?1), (?2)', integer(8), integer(9)),
    sql('CREATE TABLE u (y)'),
    sql('DELETE FROM t WHERE x > 7'),
  )
  const expected = [
    [0n, 0n],
    [1n, 1n],
    [2n, 3n],
    [0n, 3n],
    [2n, 3n],
  ]
  assert.deepEqual(
    effects.map(({ changes, lastInsertId }) => [changes, lastInsertId]),
    expected,
  )
  assert.deepEqual(write(database, sql('DELETE FROM t')), [{ changes: 1n, lastInsertId: 0n }], 'of another transaction')
})

test('a statement that fails stops the batch and ends its transaction', () => {
  const { database, open } = sceneWithTable()
  const transaction = begin(database, 'write')
  const error = refusal(() => transaction.execute([insert(1), insert(1), insert(2)]))
  assert.equal(error.code, 'already-exists')
  assert.match(error.message, /unique constraint of `.*\/memories\.db`.*t\.x/)
  assert.equal(error.detail, 'SQLite result code 2067')
  // It is over at once, lock and all.
  write(open({ patience: { atHead: 0, inAll: 0 } }), insert(3))
  for (const use of [
    () => transaction.execute([insert(4)]),
    () => transaction.query(sql('SELECT 1'), 1),
    () => transaction.commit(),
  ]) {
    const { code, message } = refusal(use)
    assert.equal(code, 'io')
    assert.match(message, /was rolled back after an error: begin again/)
  }
  assert.equal(single(database, 'SELECT x FROM t'), 3n)
})

test('a query that fails ends its transaction, one that reads as well', () => {
  const { database } = sceneWithTable()
  for (const mode of ['read', 'write'] as const) {
    const transaction = begin(database, mode)
    assert.match(refusal(() => transaction.query(sql('SELECT absent'), 1)).message, /no such column/)
    assert.match(refusal(() => transaction.query(sql('SELECT 1'), 1)).message, /begin again/)
    begin(database, mode).commit()
  }
})

test('a transaction that is not committed leaves nothing and lets the next one in', () => {
  const { database, open } = sceneWithTable()
  const transaction = begin(database, 'write')
  transaction.execute([insert(1)])
  transaction.end()
  assert.equal(count(database), 0n)
  const other = open({ patience: { atHead: 0, inAll: 0 } }, false)
  begin(other, 'write').end()
  write(database, insert(2))
  assert.equal(count(other), 1n)
})

test('what a call leaves open ends with it, and the connection stays', () => {
  const { database, open } = sceneWithTable()
  const transaction = begin(database, 'write')
  transaction.execute([insert(1)])
  database.endCall()
  assert.match(refusal(() => transaction.execute([insert(2)])).message, /begin again/)
  write(open({ patience: { atHead: 0, inAll: 0 } }), insert(3))
  database.open(false)
  assert.equal(count(database), 1n)
})

test('a transaction reads what it wrote and others do not', () => {
  const { database, open } = sceneWithTable()
  const other = open()
  const transaction = begin(database, 'write')
  transaction.execute([insert(1)])
  assert.deepEqual([count(transaction), count(other)], [1n, 0n])
  transaction.commit()
  assert.equal(count(other), 1n)
})

test('a read transaction sees one view from its begin', () => {
  const { database, open } = sceneWithTable()
  const reader = open()
  const reads = begin(reader, 'read')
  write(database, insert(1))
  assert.equal(count(reads), 0n)
  reads.commit()
  assert.equal(count(reader), 1n)
})

test('there is one transaction at a time and one commit', () => {
  const { database } = sceneWithTable()
  const isNested = (work: () => unknown) => assert.equal(refusal(work).code, 'nested')
  const transaction = begin(database, 'read')
  isNested(() => begin(database, 'read'))
  isNested(() => begin(database, 'write'))
  isNested(() => database.query(sql('SELECT 1'), 1))
  transaction.commit()
  isNested(() => transaction.commit())
  isNested(() => transaction.query(sql('SELECT 1'), 1))
  isNested(() => transaction.execute([insert(1)]))
  database.query(sql('SELECT 1'), 1)
  begin(database, 'write').end()
})

test('what is made is for its owner alone', () => {
  const umask = process.umask(0)
  try {
    const { at, database } = sceneWithTable()
    const transaction = begin(database, 'write')
    transaction.execute([insert(1)])
    const mode = (name: string) => statSync(at(name)).mode & 0o777
    const names = ['memories.db', 'memories.db-shm', 'memories.db-wal']
    const locks = ['queue.sqlite', 'turn.sqlite'].map((name) => `.agent-memory/${name}`)
    for (const name of [...names, ...locks]) assert.equal(mode(name), 0o600, name)
    for (const name of ['.', '..', '.agent-memory']) assert.equal(mode(name), 0o700, name)
    assert.deepEqual(readdirSync(at('')).sort(), ['.agent-memory', ...names], 'and nothing else')
    transaction.end()
  } finally {
    process.umask(umask)
  }
})

test('the bits of a directory that is there are left alone, and the files in it are private', () => {
  const { at, open } = scene()
  mkdirSync(at('.agent-memory'), { recursive: true })
  const directories = ['', '.agent-memory']
  for (const name of directories) chmodSync(at(name), 0o755)
  const database = open()
  write(database, sql('CREATE TABLE t (x)'))
  const mode = (name: string) => statSync(at(name)).mode & 0o777
  assert.deepEqual(directories.map(mode), [0o755, 0o755])
  const files = ['memories.db', '.agent-memory/queue.sqlite', '.agent-memory/turn.sqlite']
  assert.deepEqual(files.map(mode), [0o600, 0o600, 0o600])
})

test('a new database has a journal that this SQLite is sound with', () => {
  assert.equal(journalMode('3.51.2'), 'DELETE')
  assert.equal(journalMode('3.50.9'), 'DELETE')
  assert.equal(journalMode('3.51.3'), 'WAL')
  assert.equal(journalMode('3.52.0'), 'WAL')
  assert.equal(journalMode('4.0.0'), 'WAL')
  const { at, database } = sceneWithTable()
  database.close()
  const [mode] = new DatabaseSync(at('memories.db'), { returnArrays: true })
    .prepare('PRAGMA journal_mode')
    .get() as unknown as [string]
  assert.equal(mode, journalMode(process.versions['sqlite']!).toLowerCase())
})

test('the journal of a database that is there stays as it is, and a commit waits for its readers', async () => {
  const { at, open } = scene()
  mkdirSync(at(''), { recursive: true })
  const made = new DatabaseSync(at('memories.db'))
  made.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, x)')
  const database = open()
  write(database, insert(1))
  assert.equal(made.prepare('PRAGMA journal_mode').get()!['journal_mode'], 'delete')
  const reader = new Worker(
    `const { workerData, parentPort } = require('node:worker_threads')
     const made = new (require('node:sqlite').DatabaseSync)(workerData)
     made.exec('BEGIN; SELECT count(*) FROM t')
     parentPort.postMessage('reads')
     Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
     made.exec('COMMIT')`,
    { eval: true, workerData: at('memories.db') },
  )
  await new Promise((resolve) => reader.once('message', resolve))
  let waits = 0
  const waiting = open({ onWait: () => waits++ })
  write(waiting, insert(2))
  assert.equal(waits, 1)
  assert.equal(count(database), 2n)
  await reader.terminate()
})

test('a reader waits for a program that keeps the database to itself', () => {
  const { at, open } = scene()
  mkdirSync(at(''), { recursive: true })
  const made = new DatabaseSync(at('memories.db'))
  made.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, x)')
  const database = open({ onWait: () => made.exec('INSERT INTO t VALUES (1, 1); COMMIT') })
  assert.equal(count(database), 0n)
  made.exec('BEGIN EXCLUSIVE')
  const transaction = begin(database, 'read')
  assert.equal(count(transaction), 1n)
  transaction.end()
})

test('a database that is removed just before it is opened is not made by SQLite', (context) => {
  const { at, database, open } = sceneWithTable()
  database.close()
  intercept(context, 'accessSync', (path) => {
    if (path === at('memories.db')) rmSync(path as string)
  })
  assert.throws(() => open(), { code: 'io' })
  assert.ok(!existsSync(at('memories.db')))
})

test('a connection is kept, and a database that was removed and made anew is opened anew', () => {
  const { at, database, open } = sceneWithTable()
  write(database, insert(1))
  database.endCall()
  rmSync(at(''), { recursive: true })
  assert.equal(refusal(() => database.open(false)).code, 'not-found')
  write(open(), sql('CREATE TABLE t (x)'))
  database.open(false)
  assert.equal(count(database), 0n)
})

test('a commit to a database that was moved away is no commit', () => {
  const { at, database } = sceneWithTable()
  const transaction = begin(database, 'write')
  transaction.execute([insert(1)])
  renameSync(at('memories.db'), at('elsewhere.db'))
  const error = refusal(() => transaction.commit())
  assert.equal(error.code, 'io')
  assert.match(error.message, /moved away/)
})

test('a commit to a database that was moved away is no commit', () => {
  const { at, database, open } = sceneWithTable()
  const transaction = begin(database, 'write')
  transaction.execute([insert(1)])
  renameSync(at('memories.db'), at('away.db'))
  const { code, message } = refusal(() => transaction.commit())
  assert.equal(code, 'io')
  assert.match(message, /was moved away while it was open/)
  renameSync(at('away.db'), at('memories.db'))
  assert.match(refusal(() => transaction.commit()).message, /begin again/)
  const next = open({ patience: { atHead: 0, inAll: 0 } })
  write(next, insert(2))
  assert.equal(count(next), 1n)
})

test('a connection forgets the call before, and keeps its statements', () => {
  const { database } = sceneWithTable()
  write(database, insert(1))
  database.endCall()
  const transaction = begin(database, 'write')
  const [effect] = transaction.execute([sql('UPDATE t SET x = 2')])
  assert.deepEqual(effect, { changes: 1n, lastInsertId: 0n })
  database.endCall()
  assert.equal(single(database, 'SELECT x FROM t'), 1n)
})

test('a statement that finds its schema changed is prepared anew', () => {
  const { database, open } = sceneWithTable()
  write(database, insert(1))
  const all = sql('SELECT * FROM t')
  assert.deepEqual(database.query(all, 1).columns, ['id', 'x'])
  write(open(), sql('ALTER TABLE t ADD COLUMN y DEFAULT 5'))
  const { columns, rows } = database.query(all, 1)
  assert.deepEqual(columns, ['id', 'x', 'y'])
  assert.deepEqual(rows, [[integer(1), integer(1), integer(5)]])
})
