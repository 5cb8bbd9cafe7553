import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { StorageError } from '../../dist/storage/error.js'
import { directorySegmentsOf, isTemporary, segmentsOf, temporaryName } from '../../dist/storage/paths.js'
import { repositoryFile } from '../fixtures/scratch.ts'

type Text = string | (string | { repeat: string; times: number })[]

const { documents, refused, temporary } = JSON.parse(readFileSync(repositoryFile('tests/paths.json'), 'utf8')) as {
  documents: { path: Text; why: string }[]
  refused: { path: Text; why: string }[]
  temporary: { name: Text; temporary: Text }[]
}

function textOf(text: Text): string {
  if (typeof text === 'string') return text
  return text.map((part) => (typeof part === 'string' ? part : part.repeat.repeat(part.times))).join('')
}

const invalid = (error: unknown) => error instanceof StorageError && error.code === 'invalid-path'

for (const { path, why } of documents) {
  test(`a path is accepted: ${why}`, () => {
    assert.equal(segmentsOf(textOf(path)).join('/'), textOf(path))
  })
}

for (const { path, why } of refused) {
  test(`a path is refused: ${why}`, () => {
    assert.throws(() => segmentsOf(textOf(path)), invalid)
    assert.throws(() => directorySegmentsOf(textOf(path)), invalid)
  })
}

test('the empty path is the root of a tree, and not a document', () => {
  assert.deepEqual(directorySegmentsOf(''), [])
  assert.throws(() => segmentsOf(''), invalid)
})

for (const each of temporary) {
  test(`the temporary file for a name of ${Buffer.byteLength(textOf(each.name))} bytes has the same name in every host`, () => {
    assert.equal(temporaryName(textOf(each.name)), textOf(each.temporary))
    assert.ok(isTemporary(textOf(each.temporary)))
  })
}
