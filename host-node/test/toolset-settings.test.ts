import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { MemoryOpenError, type MemoryOptions, openMemory } from 'agent-memory-host'
import { type Description, listsOf, readingToolsOf, type Toolset } from '../dist/description.js'
import { type ComponentOptions, settle } from '../dist/options.js'
import { grantDirectory } from '../dist/storage/named-place.js'
import { directorySetting, emptyToolset, privatePlace } from './fixtures/components.ts'
import { emptyDirectory, repositoryFile } from './fixtures/scratch.ts'

const setting = (name: string, schema: object) => ({ name, schema, help: name, is_path: false })

const first: Toolset = {
  ...emptyToolset,
  name: 'first',
  settings: [
    directorySetting,
    setting('form', { type: 'string', enum: ['round', 'flat'] }),
    setting('most', { type: 'integer', minimum: 1, maximum: 9 }),
    setting('is_new', { type: 'boolean' }),
    { ...setting('file', { type: 'string' }), is_path: true },
  ],
  places: [
    privatePlace,
    { ...privatePlace, label: 'away', setting: 'file', default: '' },
    { ...privatePlace, label: 'family', kind: 'family', default: '~/family' },
  ],
}
const second: Toolset = {
  ...emptyToolset,
  name: 'second',
  default: false,
  settings: [setting('text', { type: 'string' })],
}
const description: Description = { toolsets: [first, second] }

const settled = (options: Partial<ComponentOptions> = {}) => settle(description, { allow: [], ...options })
const granted = (options?: Partial<ComponentOptions>) =>
  Object.fromEntries(settled(options).places.map((place) => [place.label, 'path' in place ? place.path : undefined]))
const own = (settings: object) => settled({ settings }).arrive().settings.ofToolsets

test('the defaults are those that the README tells', () => {
  const { durability, patience, workers, memoryLimit, storageCalls, statementTime } = settled()
  const { guestTime, guestTimeForPeople } = settled()
  assert.deepEqual(
    { durability, patience, workers, memoryLimit, guestTime, guestTimeForPeople, storageCalls, statementTime },
    {
      durability: 'full',
      patience: { atHead: 5_000, inAll: 30_000 },
      workers: 4,
      memoryLimit: 256 * 1024 * 1024,
      guestTime: 2_000,
      guestTimeForPeople: 60_000,
      storageCalls: 100_000,
      statementTime: 30_000,
    },
  )
  assert.deepEqual(settled({ lockWait: 60_000 }).patience, { atHead: 60_000, inAll: 60_000 })
  const readme = readFileSync(repositoryFile('host-node/README.md'), 'utf8')
  assert.match(readme, /256 MiB, 2,000, 60,000, 100,000, 30,000 \|/)
  assert.match(readme, /`lockWait` .*waits 30,000, .*\| 5,000 \|/)
  assert.match(readme, /`workers` .*four times as many.*\| 4 \|/)
})

test('a place is granted by default where its toolset is mounted, and where a setting says where it is', () => {
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

test('only what was set is handed to the component, and where places are is not', () => {
  assert.deepEqual(own({}), [])
  assert.deepEqual(own({ first: { directory: '/a', file: '/b', form: undefined }, second: {} }), [])
  assert.deepEqual(own({ second: { text: 'ä' }, first: { most: 9, form: 'flat', is_new: false } }), [
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
  test(`the settings ${JSON.stringify(settings)} are refused by name`, () => {
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

test('those toolsets are mounted that are named, or by default, in their order', () => {
  const names = (toolsets?: readonly string[]) => settled(toolsets && { toolsets }).mounted.map(({ name }) => name)
  assert.deepEqual(names(), ['first'])
  assert.deepEqual(names([]), [])
  assert.deepEqual(names(['second', 'first']), ['first', 'second'])
  assert.deepEqual(names(['all']), ['first', 'second'])
  assert.throws(() => names(['second', 'third']), { message: 'no toolset `third`; there are `first`, `second`, `all`' })
  assert.throws(() => names('all' as unknown as string[]), { message: /`toolsets` is not an array/ })
})

test('a tool whose name another mounted one has too is listed by its qualified name', () => {
  const tool = (toolset: string, name: string, shared_with: string[], readOnlyHint: boolean) => ({
    name,
    qualified_name: `${toolset}_${name}`,
    shared_with,
    title: name,
    description: name,
    inputSchema: {},
    outputSchema: {},
    annotations: { readOnlyHint, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    audience: 'model' as const,
  })
  const a = { ...first, tools: [tool('first', 'find', ['second'], true), tool('first', 'read', [], true)] }
  const b = { ...second, tools: [tool('second', 'find', ['first'], false)] }
  const names = (...mounted: Toolset[]) => listsOf(mounted).tools.map(({ name }) => name)
  assert.deepEqual(
    [names(a), names(b), names(a, b)],
    [['find', 'read'], ['find'], ['first_find', 'read', 'second_find']],
  )
  assert.deepEqual(Object.keys(listsOf([a, b]).tools[0]!), [
    ...['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations', 'audience'],
  ])
  assert.deepEqual([...readingToolsOf([a, b])].sort(), ['first_find', 'first_read', 'read'])
  assert.deepEqual([...readingToolsOf([a])].sort(), ['find', 'first_find', 'first_read', 'read'])
})

test('a setting is typed by its schema', async () => {
  const directory = emptyDirectory()
  const typed: MemoryOptions = { allow: [], settings: { records: { directory, format: 'json', max_bytes: 1 } } }
  await (await openMemory(typed)).close()
  // @ts-expect-error: another format is no setting.
  const wrong: MemoryOptions = { allow: [], settings: { records: { format: 'xml' } } }
  await assert.rejects(openMemory(wrong), { code: 'invalid-option', message: /`settings\.records\.format`/ })
})
