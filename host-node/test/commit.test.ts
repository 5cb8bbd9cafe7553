import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { commit } from '../dist/storage/commit.js'
import { CommitFailure } from '../dist/storage/failure.js'
import { findRepository } from '../dist/storage/repository.js'
import { readDocument, sidesOf, versionOf } from '../dist/storage/tree.js'
import { emptyRepository, write } from './scratch.ts'

const tree = '.github/agent-memory'

function setup() {
  const repository = emptyRepository()
  return { repository, sides: sidesOf(findRepository(repository, [repository])) }
}

const put = (path: string, text: string, expects?: string) => ({
  tag: 'put' as const,
  val: { side: 'documents' as const, path, contents: Buffer.from(text), ...(expects !== undefined && { expects }) },
})
const remove = (path: string, expects: string) => ({
  tag: 'delete' as const,
  val: { side: 'documents' as const, path, expects },
})
const version = (text: string) => versionOf(Buffer.from(text))

function failure(work: () => unknown): CommitFailure {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof CommitFailure, String(error))
    return error
  }
  return assert.fail('the commit succeeded')
}

test('a version is the SHA-256 of the contents in lower-case hexadecimal', () => {
  assert.equal(version('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('changes are made in order and answered with their versions', () => {
  const { repository, sides } = setup()
  assert.deepEqual(commit(sides, [put('a/b.md', 'one'), put('c.md', 'two')], 'full'), [version('one'), version('two')])
  const second = commit(sides, [put('c.md', 'three', version('two')), remove('a/b.md', version('one'))], 'full')
  assert.deepEqual(second, [version('three'), ''])
  assert.equal(readFileSync(join(repository, tree, 'c.md'), 'utf8'), 'three')
  assert.equal(readDocument(sides, 'documents', 'a/b.md', 10n), undefined)
})

test('the private side is beside the lock', () => {
  const { repository, sides } = setup()
  commit(sides, [{ tag: 'put', val: { side: 'bookkeeping', path: 'a.json', contents: Buffer.from('{}') } }], 'full')
  assert.equal(readFileSync(join(repository, '.git/agent-memory/bookkeeping/a.json'), 'utf8'), '{}')
  assert.ok(!existsSync(join(repository, '.github')))
})

test('one version that does not match stops all changes and names the change', () => {
  const { repository, sides } = setup()
  commit(sides, [put('a.md', 'a')], 'full')
  const {
    failure: why,
    change,
    applied,
  } = failure(() => commit(sides, [put('new/b.md', 'b'), put('a.md', 'c', version('x'))], 'full'))
  assert.deepEqual([why.code, change, applied], ['version-mismatch', 1, 0])
  assert.deepEqual(readdirSync(join(repository, tree)), ['a.md'])
})

test('a path that stands twice, too many changes and a document that is too long are refused', () => {
  const { repository, sides } = setup()
  const codeOf = (changes: Parameters<typeof commit>[1]) => failure(() => commit(sides, changes, 'full')).failure.code
  assert.equal(codeOf([put('a.md', 'a'), put('a.md', 'b')]), 'invalid-path')
  assert.equal(codeOf(Array.from({ length: 1001 }, (_, n) => put(`${n}`, ''))), 'too-large')
  assert.equal(codeOf([put('a.md', 'x'.repeat(16 * 1024 * 1024 + 1))]), 'too-large')
  assert.ok(!existsSync(join(repository, '.github')))
})

test('a failure before the first rename takes back temporary files and new directories', () => {
  const { repository, sides } = setup()
  mkdirSync(join(repository, tree, 'b/.x.md.agent-memory-tmp'), { recursive: true })
  const {
    failure: why,
    change,
    applied,
  } = failure(() => commit(sides, [put('a/x.md', 'a'), put('b/x.md', 'b')], 'full'))
  assert.deepEqual([why.code === 'already-exists', change, applied], [false, 1, 0])
  assert.deepEqual(readdirSync(join(repository, tree)), ['b'])
})

test('a failure after the first rename leaves the changes before it and says how many', () => {
  const { repository, sides } = setup()
  const { change, applied } = failure(() =>
    commit(sides, [put('a.md', 'a'), put('b', 'b'), put('b/c.md', 'c')], 'full'),
  )
  assert.deepEqual([change, applied], [1, 1])
  assert.equal(readFileSync(join(repository, tree, 'a.md'), 'utf8'), 'a')
  assert.deepEqual(readdirSync(join(repository, tree)), ['a.md'])
})

test('a document keeps its permission bits', () => {
  const { repository, sides } = setup()
  const path = join(repository, tree, 'a.md')
  write(path, 'a')
  chmodSync(path, 0o640)
  commit(sides, [put('a.md', 'b', version('a'))], 'full')
  assert.equal(statSync(path).mode & 0o7777, 0o640)
})

test('a document longer than asked for is too large, also where the host has the lower bound', () => {
  const { sides, repository } = setup()
  write(join(repository, tree, 'a.md'), 'abc')
  assert.throws(() => readDocument(sides, 'documents', 'a.md', 2n), { code: 'too-large' })
  write(join(repository, tree, 'b.md'), 'x'.repeat(16 * 1024 * 1024 + 1))
  assert.throws(() => readDocument(sides, 'documents', 'b.md', 2n ** 64n - 1n), { code: 'too-large' })
})
