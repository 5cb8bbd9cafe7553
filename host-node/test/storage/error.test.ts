import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { attempt } from '../../dist/storage/error.js'
import { storageError } from '../fixtures/database.ts'

test('an unexpected `ENOENT` gives the error `io`, and not `not-found`', () => {
  const { code, detail } = storageError(() => attempt('read `a.md`', () => readFileSync('/nowhere/a.md')))
  assert.deepEqual([code, detail], ['io', 'ENOENT'])
})
