import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import {
  begin,
  count,
  shortTimeout,
  insert,
  longTimeout,
  storageError,
  emptyPlace,
  databaseWithTable,
  single,
  sql,
  write,
} from '../../fixtures/database.ts'

test('the end of a call ends its transaction, and the connection stays open', () => {
  const { database, open } = databaseWithTable()
  const transaction = begin(database, 'write')
  transaction.execute([insert(1)])
  database.endCall()
  assert.match(storageError(() => transaction.execute([insert(2)])).message, /begin again/)
  write(open({ lockTimeout: { atHead: 0, total: 0 } }), insert(3))
  database.open(false)
  assert.equal(count(database), 1n)
})

test('an existing database keeps its journal mode, and a commit waits for its readers', async () => {
  const { at, open } = emptyPlace()
  mkdirSync(at(''), { recursive: true })
  const other = new DatabaseSync(at('memories.db'))
  other.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, x)')
  const database = open()
  write(database, insert(1))
  assert.equal(other.prepare('PRAGMA journal_mode').get()!['journal_mode'], 'delete')
  const reader = new Worker(
    `const { workerData, parentPort } = require('node:worker_threads')
     const other = new (require('node:sqlite').DatabaseSync)(workerData)
     other.exec('BEGIN; SELECT count(*) FROM t')
     parentPort.postMessage('reads')
     Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
     other.exec('COMMIT')`,
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

test('a reader waits for a program that has the database locked', () => {
  const { at, open } = emptyPlace()
  mkdirSync(at(''), { recursive: true })
  const other = new DatabaseSync(at('memories.db'))
  other.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, x)')
  const database = open({ onWait: () => other.exec('INSERT INTO t VALUES (1, 1); COMMIT') })
  assert.equal(count(database), 0n)
  other.exec('BEGIN EXCLUSIVE')
  const transaction = begin(database, 'read')
  assert.equal(count(transaction), 1n)
  transaction.end()
})

test('a call ends its transaction, and its connection stays open', () => {
  const { database } = databaseWithTable()
  write(database, insert(1))
  database.endCall()
  const transaction = begin(database, 'write')
  const [effect] = transaction.execute([sql('UPDATE t SET x = 2')])
  assert.deepEqual(effect, { changes: 1n })
  database.endCall()
  assert.equal(single(database, 'SELECT x FROM t'), 1n)
})

test('a writer waits for the lock of another program, until the timeout', () => {
  const { at, open } = databaseWithTable()
  const otherProgram = new DatabaseSync(at('memories.db'))
  otherProgram.exec('BEGIN IMMEDIATE')
  const shortWait = open({ lockTimeout: shortTimeout })
  const busy = storageError(() => begin(shortWait, 'write'))
  assert.equal(busy.code, 'busy')
  assert.match(busy.message, /another program kept `.*memories\.db` locked for the 0\.\d s/)
  // The other program commits once the writer waits.
  const longWait = open({ lockTimeout: longTimeout, onWait: () => otherProgram.exec('COMMIT') })
  write(longWait, insert(1))
  assert.equal(count(longWait), 1n)
})

test('a writer that waits too long for the lock gets `busy`', () => {
  const { database, open } = databaseWithTable()
  const shortWait = open({ lockTimeout: shortTimeout })
  const transaction = begin(database, 'write')
  const busy = storageError(() => begin(shortWait, 'write'))
  assert.equal(busy.code, 'busy')
  transaction.end()
  begin(shortWait, 'write').end()
})
