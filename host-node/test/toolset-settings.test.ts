import assert from 'node:assert/strict'
import { realpathSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, normalize } from 'node:path'
import { test } from 'node:test'
import { MemoryOpenError, type MemoryOptions, openMemory } from 'agent-memory'
import type { ComponentOptions } from '../dist/options.js'
import { defaultConfigurationDirectory, defaultDataDirectory } from '../dist/user-paths.js'
import { emptyDirectory } from './fixtures/scratch.ts'
import { newPlaces } from './fixtures/places.ts'
import { settled, settledIn } from './fixtures/toolsets.ts'

/** The grants of the component of files, by label. */
interface Granted {
  wanted: [wanted: { label: string; members: object | null }, resolved: Resolved | null][]
  missing: [label: string, message: string][]
}

type Resolved = { Place: { directory: string; file: string | null } } | { Family: { registry: Location | null } }
type Location = { directory: string; name: string }

function grants(options?: Partial<ComponentOptions>): Granted {
  const places = newPlaces()
  settledIn(places, { dataDir: '/data', ...options })
  return JSON.parse(places.run((files) => files.grants()))
}

/**
 * The path of each place by its label; for a family, the path of its registry. Undefined if it is not
 * granted.
 */
function granted(options?: Partial<ComponentOptions>): Record<string, string | undefined> {
  const { wanted, missing } = grants(options)
  const pathOf = (resolved: Resolved | null) => {
    if (resolved === null) return undefined
    if ('Place' in resolved) return normalize(join(resolved.Place.directory, resolved.Place.file ?? ''))
    const { registry } = resolved.Family
    return registry === null ? undefined : join(registry.directory, registry.name)
  }
  return Object.fromEntries([
    ...missing.map(([label]) => [label, undefined]),
    ...wanted.map(([{ label }, resolved]) => [label, pathOf(resolved)]),
  ])
}

const componentSettings = (settings: object) => settled({ settings }).nextContext().settings.ofToolsets

test('a place is granted if its toolset is mounted, or if a setting gives its path', () => {
  const home = (path: string) => join(realpathSync(homedir()), path)
  const none = { guest: undefined, away: undefined, family: undefined, single: undefined }
  const inData = { ...none, family: '/data/family.yaml', single: '/data/single.db' }
  const defaults = { ...inData, guest: home('.guest') }
  assert.deepEqual(granted(), defaults)
  assert.deepEqual(granted({ toolsets: ['all'] }), defaults)
  assert.deepEqual(granted({ toolsets: ['second'] }), none)
  const settings = { first: { directory: '/a/b', file: '~/c', registry: '~/e', database: '~/d.db' } }
  const set = { ...none, guest: '/a/b', away: home('c'), family: home('e'), single: home('d.db') }
  assert.deepEqual(granted({ toolsets: ['second'], settings }), set)
  const before = process.env['HOME']
  process.env['HOME'] = ''
  try {
    assert.deepEqual(granted(), inData)
  } finally {
    process.env['HOME'] = before
  }
})

test('the default data directory is `agent-memory` in the data directory of the platform', (context) => {
  const variables = ['HOME', 'XDG_DATA_HOME', 'LOCALAPPDATA'] as const
  const before = variables.map((name) => [name, process.env[name]] as const)
  context.after(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
  for (const name of variables) delete process.env[name]
  process.env['HOME'] = '/home/me'
  assert.equal(defaultDataDirectory('linux'), '/home/me/.local/share/agent-memory')
  assert.equal(defaultDataDirectory('darwin'), '/home/me/Library/Application Support/agent-memory')
  assert.equal(granted({ dataDir: undefined }).single, '/home/me/.local/share/agent-memory/single.db')
  assert.equal(granted({ dataDir: '~/data' }).single, '/home/me/data/single.db')
  process.env['XDG_DATA_HOME'] = 'relative'
  assert.equal(defaultDataDirectory('linux'), '/home/me/.local/share/agent-memory')
  process.env['HOME'] = ''
  assert.equal(defaultDataDirectory('linux'), undefined)
  assert.equal(granted({ dataDir: undefined }).single, undefined)
  process.env['XDG_DATA_HOME'] = '/xdg'
  assert.equal(defaultDataDirectory('linux'), '/xdg/agent-memory')
})

test('a registry is in the data directory that was given, or else in the configuration directory', (context) => {
  const variables = ['HOME', 'XDG_CONFIG_HOME'] as const
  const before = variables.map((name) => [name, process.env[name]] as const)
  context.after(() => Object.assign(process.env, Object.fromEntries(before.filter(([, value]) => value !== undefined))))
  delete process.env['XDG_CONFIG_HOME']
  process.env['HOME'] = '/home/me'
  assert.equal(granted({ dataDir: undefined }).family, '/home/me/.config/agent-memory/family.yaml')
  assert.equal(granted({ dataDir: '~/data' }).family, '/home/me/data/family.yaml')
  process.env['XDG_CONFIG_HOME'] = '/xdg'
  assert.equal(defaultConfigurationDirectory('linux'), '/xdg/agent-memory')
  assert.equal(defaultConfigurationDirectory('darwin'), '/home/me/Library/Application Support/agent-memory')
  process.env['XDG_CONFIG_HOME'] = 'relative'
  assert.equal(granted({ dataDir: undefined }).family, '/home/me/.config/agent-memory/family.yaml')
})

test('the places of a family that a program gives are all, and are checked', () => {
  const places = { family: { notes: '/a/notes', own: '~/own' } }
  const [family] = grants({ places }).wanted.find(([{ label }]) => label === 'family')!
  assert.deepEqual(family.members, places.family)
  for (const [wrong, message] of [
    [{ unknown: {} }, /`places.unknown` does not exist; there are `family`/],
    [{ family: { a: 1 } }, /`places.family.a` is not a path/],
    [{ family: { a: '/' } }, /`places.family` cannot be granted: cannot use `a` at `\/`/],
    [{ family: { a: '/a', b: '/a/b' } }, /it contains `b`/],
  ] as const)
    assert.throws(() => settled({ places: wrong as unknown as typeof places }), { message })
  assert.throws(() => settled({ places, settings: { first: { registry: '/r' } } }), /give one/)
})

test('the relative path of a file is one from the working directory', () => {
  const inWorkingDirectory = (path: string) => join(realpathSync(process.cwd()), path)
  const single = (database: string) => granted({ settings: { first: { database } } }).single
  assert.equal(single('new.db'), inWorkingDirectory('new.db'))
  assert.equal(single('./new/new.db'), inWorkingDirectory('new/new.db'))
})

test('a place that is occupied is left for later, and a warning names its option', (context) => {
  const file = join(emptyDirectory(), 'file')
  writeFileSync(file, '')
  const { mock } = context.mock.method(console, 'warn', (_text: string) => {})
  const warnings = () => {
    const told = mock.calls.map(({ arguments: [text] }) => String(text))
    mock.resetCalls()
    return told
  }
  const { wanted } = grants({ dataDir: file })
  const occupied = wanted.filter(([, resolved]) => resolved === null)
  assert.deepEqual(
    occupied.map(([{ label }]) => label),
    ['family', 'single'],
  )
  const told = warnings()
  assert.equal(told.length, 2)
  for (const text of told) assert.match(text, /`dataDir` .*something other than a directory stands there: move it away/)
  settled({ dataDir: '/data', settings: { first: { directory: file } } })
  assert.match(warnings().join(), /`settings\.first\.directory` .*something other than a directory/)
  const elsewhere = { first: { database: '/a/b.db', registry: '/a/r' } }
  assert.equal(granted({ dataDir: file, settings: elsewhere }).single, '/a/b.db')
  assert.deepEqual(warnings(), [])
})

test('an occupied place and another that would meet once it is free are refused at once', (context) => {
  const file = join(emptyDirectory(), 'file')
  writeFileSync(file, '')
  context.mock.method(console, 'warn', () => {})
  for (const [directory, other] of [
    [file, join(file, 'below')],
    [join(file, 'below'), file],
  ] as const)
    assert.throws(() => settled({ dataDir: '/data', settings: { first: { directory, file: other } } }), {
      code: 'invalid-option',
      message: /`settings\.first\.file` cannot be granted: .*it (lies within|contains) `guest`/,
    })
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
  [{ first: { database: '..' } }, 'settings.first.database', /cannot be granted: .*path of a directory/],
  [{ first: { database: '/' } }, 'settings.first.database', /cannot be granted: .*path of a directory/],
  [{ first: { directory: '/a', file: '/a/b' } }, 'settings.first.file', /it (lies within|contains) `guest`/],
  [{ first: { directory: '/a/b', file: '/a' } }, 'settings.first.file', /it (lies within|contains) `guest`/],
  [{ first: { directory: '/a', database: '/a/b' } }, 'settings.first.database', /it (lies within|contains) `guest`/],
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

test('the search comes with the default toolset, unless a setting leaves it out', async () => {
  const names = async (options: Partial<MemoryOptions>) => {
    await using memory = await openMemory({ allow: [], ...options })
    return memory.tools.map(({ name }) => name)
  }
  const all = await names({})
  assert.equal(all.at(-1), 'drop_vectors')
  assert.deepEqual(await names({ settings: { memory: { leave_out: true } } }), all.slice(0, -4))
  const named = { toolsets: ['memory'], settings: { memory: { leave_out: true } } }
  assert.deepEqual(await names(named), ['resume_memory', 'search_memory', 'forget_memory', 'drop_vectors'])
  await assert.rejects(names({ settings: { memory: { leave_out: 1 as unknown as boolean } } }), {
    code: 'invalid-option',
    message: /`settings\.memory\.leave_out` is neither `true` nor `false`/,
  })
})

test('the schema of a setting gives its type', async () => {
  const directory = emptyDirectory()
  const typed: MemoryOptions = { allow: [], settings: { records: { directory, format: 'json', max_bytes: 1 } } }
  await (await openMemory(typed)).close()
  // @ts-expect-error: `xml` is not a value of the setting.
  const wrong: MemoryOptions = { allow: [], settings: { records: { format: 'xml' } } }
  await assert.rejects(openMemory(wrong), { code: 'invalid-option', message: /`settings\.records\.format`/ })
})
