import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { beside, emptyDirectory, emptyRepository, write } from './scratch.ts'

const hasStrace = spawnSync('strace', ['-V']).status === 0
const skip = !hasStrace && 'strace is not installed'

/** The syncs that a program beside the tests asks the system for. */
function syncsOf(program: string, ...words: string[]): string[] {
  const trace = join(emptyDirectory(), 'trace')
  const { status, stderr } = spawnSync(
    'strace',
    ['-f', '-y', '-o', trace, '-e', 'trace=fsync,fdatasync', process.execPath, beside(program), ...words],
    { encoding: 'utf8' },
  )
  assert.equal(status, 0, stderr)
  return [...readFileSync(trace, 'utf8').matchAll(/(fsync|fdatasync)\(\d+<([^>]*)>/g)].map(
    ([, call, path]) => `${call} ${path}`,
  )
}

test('an append syncs one file and one directory', { skip }, () => {
  const repository = emptyRepository()
  syncsOf('append-once.ts', repository, '')
  const logs = join(repository, '.github/agent-memory/aristotle/logs')
  assert.deepEqual(syncsOf('append-once.ts', repository, 'We begin.'), [
    `fdatasync ${logs}/.2025-01-20.md.agent-memory-tmp`,
    `fsync ${logs}`,
  ])
})

test('a backup and the change after it sync two files and one directory', { skip }, () => {
  const repository = emptyRepository()
  const documents = join(repository, '.github/agent-memory')
  write(join(documents, 'a.json'), 'old')
  assert.deepEqual(syncsOf('keep-once.ts', repository, 'old', 'new'), [
    `fdatasync ${documents}/.a.json.backup.agent-memory-tmp`,
    `fdatasync ${documents}/.a.json.agent-memory-tmp`,
    `fsync ${documents}`,
  ])
})
