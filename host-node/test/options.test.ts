import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MemoryOpenError, type MemoryOptions, openMemory } from 'agent-memory'
import { pathMistake } from '../dist/user-paths.js'
import { emptyDirectory, repositoryFile, write } from './fixtures/scratch.ts'
import { settled } from './fixtures/toolsets.ts'

test('the defaults are those of the README', () => {
  const { durability, lockTimeout, workers, memoryLimit, storageCalls, statementTime } = settled()
  const { guestTime, guestTimeForPeople } = settled()
  assert.deepEqual(
    { durability, lockTimeout, workers, memoryLimit, guestTime, guestTimeForPeople, storageCalls, statementTime },
    {
      durability: 'full',
      lockTimeout: { atHead: 5_000, total: 30_000 },
      workers: 4,
      memoryLimit: 256 * 1024 * 1024,
      guestTime: 2_000,
      guestTimeForPeople: 60_000,
      storageCalls: 100_000,
      statementTime: 30_000,
    },
  )
  assert.deepEqual(settled({ lockWait: 60_000 }).lockTimeout, { atHead: 60_000, total: 60_000 })
  const readme = readFileSync(repositoryFile('host-node/README.md'), 'utf8')
  assert.match(readme, /256 MiB, 2,000, 60,000, 100,000, 30,000 \|/)
  assert.match(readme, /`lockWait` .*waits 30,000, .*\| 5,000 \|/)
  assert.match(readme, /`workers` .*four times as many.*\| 4 \|/)
})

test('a path cannot be meant exactly if the list of paths says so', () => {
  const { mistakes, drives, meant } = JSON.parse(readFileSync(repositoryFile('tests/setting-paths.json'), 'utf8'))
  for (const path of mistakes) assert.notEqual(pathMistake(path), undefined, path)
  for (const path of drives) assert.equal(pathMistake(path) !== undefined, process.platform !== 'win32', path)
  for (const path of meant) assert.equal(pathMistake(path), undefined, path)
})

test('`allow` takes a path below the home directory', async (context) => {
  const home = process.env['HOME']
  context.after(() => {
    if (home === undefined) delete process.env['HOME']
    else process.env['HOME'] = home
  })
  process.env['HOME'] = emptyDirectory()
  const repository = join(process.env['HOME'], 'project')
  write(join(repository, '.git/HEAD'), 'ref: refs/heads/main\n')
  await using memory = await openMemory({ allow: ['~/project'], toolsets: ['sessions'], durability: 'relaxed' })
  const { isError } = await memory.call('validate', { repo_root: repository })
  assert.equal(isError, false)
})

test('the function of the program is the first of the models', () => {
  assert.deepEqual(settled().nextContext().models, [])
  assert.deepEqual(settled({ models: ['mine'], summarize: () => '' }).nextContext().models, ['function', 'mine'])
})

test('the error of an invalid option names it', async () => {
  const file = join(emptyDirectory(), 'file')
  writeFileSync(file, '')
  const wrong: [string, unknown][] = [
    ['allow', undefined],
    ['allow', {}],
    ['allow', { allow: ['relative'] }],
    ['allow', { allow: [5] }],
    ['allow', { allow: [join(file, 'gone')] }],
    ['allow', { allow: [file] }],
    ['lockWait', { allow: [], lockWait: -1 }],
    ['lockWait', { allow: [], lockWait: 3_600_001 }],
    ['lokWait', { allow: [], lokWait: 1 }],
    ['limits.foo', { allow: [], limits: { foo: 1 } }],
    ['workers', { allow: [], workers: 0 }],
    ['clock.now', { allow: [], clock: { now: 'soon' } }],
    ['random.seed', { allow: [], random: { seed: 1.5 } }],
    ['random.seed', { allow: [], random: { seed: 'x' } }],
    ['utcOffset', { allow: [], utcOffset: 1.5 }],
    ['timeZone', { allow: [], timeZone: 'Mars/Olympus' }],
    ['timeZone', { allow: [], timeZone: '+05:00' }],
    ['timeZone', { allow: [], timeZone: 5 }],
    ['timeZone', { allow: [], timeZone: 'UTC', utcOffset: 0 }],
    ['durability', { allow: [], durability: 'some' }],
    ['nope', { allow: [], toolsets: ['nope'] }],
    ['settings.nope', { allow: [], settings: { nope: {} } }],
    ['summarize', { allow: [], summarize: 'model' }],
    ['models', { allow: [], models: 'mine' }],
    ['models', { allow: [], models: [''] }],
    ['dataDir', { allow: [], dataDir: 'relative' }],
    ['dataDir', { allow: [], dataDir: 5 }],
  ]
  for (const [name, options] of wrong) {
    await assert.rejects(openMemory(options as MemoryOptions), (error) => {
      return (
        error instanceof MemoryOpenError && error.code === 'invalid-option' && error.message.includes(`\`${name}\``)
      )
    })
  }
})
