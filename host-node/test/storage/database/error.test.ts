import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { storageError, emptyPlace, databaseWithTable, sql, write } from '../../fixtures/database.ts'

test('the error of a broken constraint names the constraint', () => {
  const { database } = databaseWithTable()
  write(database, sql('CREATE TABLE u (y INTEGER NOT NULL REFERENCES t CHECK (y > 0))'))
  for (const value of ['NULL', '0', '7']) {
    const error = storageError(() => write(database, sql(`INSERT INTO u VALUES (${value})`)))
    assert.equal(error.code, 'io')
    assert.match(error.message, /constraint failed/)
  }
})

test('a damaged database gives the error `corrupted`', () => {
  const { at, open } = emptyPlace()
  mkdirSync(at(''), { recursive: true })
  writeFileSync(at('memories.db'), 'no database at all'.repeat(1000))
  const error = storageError(open)
  assert.equal(error.code, 'corrupted')
  assert.match(error.message, /damaged/)
})
