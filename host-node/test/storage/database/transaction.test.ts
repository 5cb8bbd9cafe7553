import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { test } from 'node:test'
import { begin, count, insert, storageError, databaseWithTable, single, sql, write } from '../../fixtures/database.ts'

test('a statement that fails stops the batch and ends its transaction', () => {
  const { database, open } = databaseWithTable()
  const transaction = begin(database, 'write')
  const error = storageError(() => transaction.execute([insert(1), insert(1), insert(2)]))
  assert.equal(error.code, 'already-exists')
  assert.match(error.message, /unique constraint of `.*\/memories\.db`.*t\.x/)
  assert.equal(error.detail, 'SQLite result code 2067')
  // The transaction has ended, and its locks are released.
  write(open({ lockTimeout: { atHead: 0, total: 0 } }), insert(3))
  for (const use of [
    () => transaction.execute([insert(4)]),
    () => transaction.query(sql('SELECT 1'), 1),
    () => transaction.commit(),
  ]) {
    const { code, message } = storageError(use)
    assert.equal(code, 'io')
    assert.match(message, /was rolled back after an error: begin again/)
  }
  assert.equal(single(database, 'SELECT x FROM t'), 3n)
})

test('a query that fails ends its transaction, also a read transaction', () => {
  const { database } = databaseWithTable()
  for (const mode of ['read', 'write'] as const) {
    const transaction = begin(database, mode)
    assert.match(storageError(() => transaction.query(sql('SELECT absent'), 1)).message, /no such column/)
    assert.match(storageError(() => transaction.query(sql('SELECT 1'), 1)).message, /begin again/)
    begin(database, mode).commit()
  }
})

test('a transaction that ends without a commit is rolled back and releases the lock', () => {
  const { database, open } = databaseWithTable()
  const transaction = begin(database, 'write')
  transaction.execute([insert(1)])
  transaction.end()
  assert.equal(count(database), 0n)
  const other = open({ lockTimeout: { atHead: 0, total: 0 } }, false)
  begin(other, 'write').end()
  write(database, insert(2))
  assert.equal(count(other), 1n)
})

test('a transaction reads its own changes, and other connections do not', () => {
  const { database, open } = databaseWithTable()
  const other = open()
  const transaction = begin(database, 'write')
  transaction.execute([insert(1)])
  assert.deepEqual([count(transaction), count(other)], [1n, 0n])
  transaction.commit()
  assert.equal(count(other), 1n)
})

test('a read transaction sees the state at its begin until it ends', () => {
  const { database, open } = databaseWithTable()
  const reader = open()
  const reads = begin(reader, 'read')
  write(database, insert(1))
  assert.equal(count(reads), 0n)
  reads.commit()
  assert.equal(count(reader), 1n)
})

test('a connection has one transaction at a time, which can be committed once', () => {
  const { database } = databaseWithTable()
  const isNested = (work: () => unknown) => assert.equal(storageError(work).code, 'nested')
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

test('a commit fails if the database was moved away', () => {
  const { at, database, open } = databaseWithTable()
  const transaction = begin(database, 'write')
  transaction.execute([insert(1)])
  renameSync(at('memories.db'), at('away.db'))
  const { code, message } = storageError(() => transaction.commit())
  assert.equal(code, 'io')
  assert.match(message, /was moved away while it was open/)
  renameSync(at('away.db'), at('memories.db'))
  assert.match(storageError(() => transaction.commit()).message, /begin again/)
  const next = open({ lockTimeout: { atHead: 0, total: 0 } })
  write(next, insert(2))
  assert.equal(count(next), 1n)
})
