import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { emptyDirectory, emptyRepository, testProgram, write } from './fixtures/scratch.ts'

const hasStrace = spawnSync('strace', ['-V']).status === 0
const skip = !hasStrace && 'strace is not installed'

/** The `fsync` and `fdatasync` calls of a test program, with their paths. */
function syncsOf(program: string, ...words: string[]): string[] {
  const trace = join(emptyDirectory(), 'trace')
  const { status, signal, stderr } = spawnSync(
    'strace',
    ['-f', '-y', '-o', trace, '-e', 'trace=fsync,fdatasync', process.execPath, testProgram(program), ...words],
    { encoding: 'utf8' },
  )
  assert.ok(status === 0 || signal === 'SIGKILL', stderr)
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

for (const [what, does, full, relaxed] of [
  ['a backup and the change after it', 'backup', ['fdatasync .a.json', 'fsync '], []],
  // Without this sync, a new document could be empty after a loss of power.
  ['a new document and a change', 'new', ['fdatasync .b.json', 'fdatasync .a.json', 'fsync '], ['fdatasync .b.json']],
  ['a rename to a directory of its own', 'rename', ['fsync ', 'fsync b'], []],
] as const) {
  test(`${what}: full durability syncs every change, and relaxed durability only new documents`, { skip }, () => {
    for (const [durability, expected] of [
      ['full', full],
      ['relaxed', relaxed],
    ] as const) {
      const repository = emptyRepository()
      const documents = join(repository, '.github/agent-memory')
      write(join(documents, 'a.json'), 'old')
      const syncs = syncsOf('commit-once.ts', repository, does, durability)
      const short = syncs.map((sync) => {
        const [call, path = ''] = sync.split(' ')
        return `${call} ${path.slice(documents.length + 1).replace('.agent-memory-tmp', '')}`
      })
      assert.deepEqual(short, expected)
    }
  })
}

test('a commit syncs the log of the database, unless durability is relaxed', { skip }, () => {
  const directory = join(emptyDirectory(), 'memories')
  const first = syncsOf('add-row-once.ts', directory, 'full')
  assert.ok(first.includes(`fsync ${dirname(directory)}`), 'the new directory survives a loss of power')
  assert.ok(first.includes(`fsync ${directory}`), 'the new database survives a loss of power')
  // The first commit of a connection also syncs the directory of the log.
  const second = syncsOf('add-row-once.ts', directory, 'full')
  assert.deepEqual(second, [`fsync ${directory}/memories.db-wal`, `fsync ${directory}`])
  assert.deepEqual(syncsOf('add-row-once.ts', directory, 'relaxed'), [])
})
