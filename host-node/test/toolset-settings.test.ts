import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { MemoryOpenError, type MemoryOptions, openMemory } from 'agent-memory-host'
import { grantDirectory } from '../dist/storage/named-place.js'
import type { ComponentOptions } from '../dist/options.js'
import { emptyDirectory } from './fixtures/scratch.ts'
import { settled } from './fixtures/toolsets.ts'

const granted = (options?: Partial<ComponentOptions>) =>
  Object.fromEntries(settled(options).places.map((place) => [place.label, 'path' in place ? place.path : undefined]))
const componentSettings = (settings: object) => settled({ settings }).nextContext().settings.ofToolsets

test('a place is granted if its toolset is mounted, or if a setting gives its path', () => {
  const home = (path: string) => grantDirectory(join(homedir(), path)).path
  const none = { guest: undefined, away: undefined, family: undefined }
  assert.deepEqual(granted(), { ...none, guest: home('.guest') })
  assert.deepEqual(granted({ toolsets: ['all'] }), { ...none, guest: home('.guest') })
  assert.deepEqual(granted({ toolsets: ['second'] }), none)
  const settings = { first: { directory: '/a/b', file: '~/c' } }
  assert.deepEqual(granted({ toolsets: ['second'], settings }), { ...none, guest: '/a/b', away: home('c') })
  const before = process.env['HOME']
  process.env['HOME'] = ''
  try {
    assert.deepEqual(granted(), none)
  } finally {
    process.env['HOME'] = before
  }
})

test('the component receives the settings that were set, without the paths of places', () => {
  assert.deepEqual(componentSettings({}), [])
  assert.deepEqual(componentSettings({ first: { directory: '/a', file: '/b', form: undefined }, second: {} }), [])
  assert.deepEqual(componentSettings({ second: { text: 'ä' }, first: { most: 9, form: 'flat', is_new: false } }), [
    { toolset: 'first', values: '{"most":9,"form":"flat","is_new":false}' },
    { toolset: 'second', values: '{"text":"ä"}' },
  ])
})

for (const [settings, option, why] of [
  [5, 'settings', /is not an object/],
  [{ third: {} }, 'settings.third', /does not exist; there are `first`, `second`/],
  [{ second: 'text' }, 'settings.second', /is not an object/],
  [{ second: { form: 'flat' } }, 'settings.second.form', /does not exist; there are `text`/],
  [{ second: { text: 5 } }, 'settings.second.text', /is not a string/],
  [{ first: { form: 'Flat' } }, 'settings.first.form', /is none of `round`, `flat`/],
  [{ first: { most: 0 } }, 'settings.first.most', /is less than 1/],
  [{ first: { most: 10 } }, 'settings.first.most', /is more than 9/],
  [{ first: { most: 1.5 } }, 'settings.first.most', /is not a whole number/],
  [{ first: { most: '5' } }, 'settings.first.most', /is not a whole number/],
  [{ first: { is_new: 1 } }, 'settings.first.is_new', /is neither `true` nor `false`/],
  [{ first: { directory: '' } }, 'settings.first.directory', /is too short/],
  [{ first: { directory: 'a/b' } }, 'settings.first.directory', /neither an absolute path nor one that begins with/],
  [{ first: { directory: '~' } }, 'settings.first.directory', /neither an absolute path nor one that begins with/],
  [{ first: { directory: '/a\0b' } }, 'settings.first.directory', /cannot be granted: .*NUL/],
] as const) {
  test(`the error for the settings ${JSON.stringify(settings)} names the wrong one`, () => {
    assert.throws(
      () => settled({ settings: settings as object }),
      (error) =>
        error instanceof MemoryOpenError &&
        error.code === 'invalid-option' &&
        error.message.includes(`\`${option}\``) &&
        why.test(error.message),
    )
  })
}

test('the schema of a setting gives its type', async () => {
  const directory = emptyDirectory()
  const typed: MemoryOptions = { allow: [], settings: { records: { directory, format: 'json', max_bytes: 1 } } }
  await (await openMemory(typed)).close()
  // @ts-expect-error: `xml` is not a value of the setting.
  const wrong: MemoryOptions = { allow: [], settings: { records: { format: 'xml' } } }
  await assert.rejects(openMemory(wrong), { code: 'invalid-option', message: /`settings\.records\.format`/ })
})
