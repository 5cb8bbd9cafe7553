// The mistakes of a program without types. Each gives an error of the documented class, which says what to do.
import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'node:test'
import { type AgentMemory, MemoryCallError, MemoryOpenError, openMemory } from 'agent-memory'
import { modelTools } from '../dist/adapters/model-tools.js'
import { emptyDirectory, emptyRepository } from './fixtures/scratch.ts'

/** Wrong options, and a pattern of the error's message. */
const wrongOptions: [options: unknown, says: RegExp][] = [
  [undefined, /`allow` is missing: name the directories .*`\[\]`/],
  [null, /`allow` is missing/],
  [{}, /`allow` is missing/],
  [5, /`allow` is missing/],
  [{ alow: [] }, /`alow` does not exist; there are `allow`, /],
  [{ allow: null }, /`allow` is not an array of directories/],
  [{ allow: '/repo' }, /`allow` is not an array of directories/],
  [{ allow: ['${HOME}/repo'] }, /`allow` has `\$\{HOME\}\/repo`, which .*write the path itself/],
  [{ allow: ['/home/$USER'] }, /`allow` has .*write the path itself/],
  [{ allow: [String(pathToFileURL('/repo'))] }, /`allow` has `file:\/\/\/repo`, which is a URI: write the path itself/],
  [{ allow: [pathToFileURL('/repo')] }, /`allow` has an item that is not a path: every item is a string/],
  [{ allow: ['repo'] }, /`allow` has `repo`, which is neither an absolute path nor one that begins with `~\/`/],
  [{ toolsets: null }, /`toolsets` is not an array of names, such as/],
  [{ toolsets: 'records' }, /`toolsets` is not an array of names, such as/],
  [{ toolsets: ['recods'] }, /`toolsets` has `recods`, which does not exist; there are `sessions`, `records`/],
  [{ toolsets: [5] }, /`toolsets` has `5`/],
  [{ settings: null }, /`settings` is not an object/],
  [{ settings: [] }, /`settings` is not an object/],
  [{ settings: { records: [] } }, /`settings\.records` is not an object/],
  [{ settings: { records: { directory: null } } }, /`settings\.records\.directory` is not a string/],
  [{ settings: { records: { directory: 'memories' } } }, /`settings\.records\.directory` is neither an absolute path/],
  [{ settings: { records: { directory: '${HOME}/memories' } } }, /`settings\.records\.directory` is .*write the path/],
  [{ settings: { records: { dir: '/a' } } }, /`settings\.records\.dir` does not exist; there are /],
  [{ dataDir: null }, /`dataDir` is neither an absolute path/],
  [{ dataDir: '' }, /`dataDir` is neither an absolute path/],
  [{ dataDir: 'file:///data' }, /`dataDir` is `file:\/\/\/data`, which is a URI/],
  [{ places: null }, /`places` is not an object/],
  [{ places: [] }, /`places` is not an object/],
  [{ places: { stores: { notes: 5 } } }, /`places\.stores\.notes` is not a path/],
  [{ places: { stores: { notes: '/data/${USER}/notes' } } }, /`places\.stores\.notes` is .*write the path itself/],
  [{ places: { store: {} } }, /`places\.store` does not exist; there are `stores`/],
  [{ limits: 5 }, /`limits` is not an object/],
  [{ limits: [] }, /`limits` is not an object/],
  [{ limits: { memory: '1' } }, /`limits\.memory` is not a whole number/],
  [{ lockWait: null }, /`lockWait` is not a whole number/],
  [{ workers: '4' }, /`workers` is not a whole number/],
  [{ workers: Infinity }, /`workers` is not a whole number/],
  [{ clock: 'now' }, /`clock` is neither `system` nor an object/],
  [{ clock: {} }, /`clock\.now` is not a date/],
  [{ clock: { now: null } }, /`clock\.now` is not a date/],
  [{ clock: { now: 5 } }, /`clock\.now` is not a date/],
  [{ clock: { now: '2025-01-20', stp: 1 } }, /`clock\.stp` does not exist; there are `now`, `step`/],
  [{ random: 5 }, /`random` is neither `system` nor an object/],
  [{ random: { sed: 5 } }, /`random\.sed` does not exist; there are `seed`/],
  [{ timeZone: null }, /`timeZone` is not the name of a time zone such as/],
  [{ utcOffset: '60' }, /`utcOffset` is not a whole number of minutes/],
  [{ durability: null }, /`durability` is neither `full` nor `relaxed`/],
  [{ summarize: null }, /`summarize` is not a function/],
  [{ models: null }, /`models` is not an array of names/],
  [{ embed: async () => [] }, /`embedModel` is missing: name the model/],
  [{ embedModel: '' }, /`embedModel` is not a name/],
]

test('a wrong option rejects with a `MemoryOpenError` that names it', async () => {
  for (const [options, says] of wrongOptions) {
    const isAllowed = typeof options !== 'object' || options === null || /allow/.test(says.source)
    const all = isAllowed ? options : { allow: [], toolsets: ['all'], ...options }
    await assert.rejects(
      openMemory(all as never),
      (error) => {
        assert.ok(error instanceof MemoryOpenError, String(error))
        assert.equal(error.code, 'invalid-option')
        assert.match(error.message, says)
        return true
      },
      String(says),
    )
  }
})

test('an option that is undefined counts as left out', async () => {
  const names = 'toolsets settings dataDir places limits lockWait workers clock random timeZone utcOffset durability'
  const options = Object.fromEntries(names.split(' ').map((name) => [name, undefined]))
  await using memory = await openMemory({ allow: [], ...options })
  assert.ok(memory.tools.length > 0)
})

test('a user without a home directory can open a memory', async (context) => {
  context.mock.method(os, 'homedir', () => {
    throw new Error('no such user')
  })
  syncBuiltinESMExports()
  context.after(() => {
    context.mock.restoreAll()
    syncBuiltinESMExports()
  })
  const { XDG_DATA_HOME, XDG_CONFIG_HOME } = process.env
  delete process.env['XDG_DATA_HOME']
  delete process.env['XDG_CONFIG_HOME']
  context.after(() => {
    if (XDG_DATA_HOME !== undefined) process.env['XDG_DATA_HOME'] = XDG_DATA_HOME
    if (XDG_CONFIG_HOME !== undefined) process.env['XDG_CONFIG_HOME'] = XDG_CONFIG_HOME
  })
  await using memory = await openMemory({ allow: [], toolsets: ['all'] })
  const outcome = await memory.call('query_memories', { agent_id: 'ada' })
  assert.ok(outcome.isError)
  assert.equal(outcome.error.category, 'denied')
})

const circular: Record<string, unknown> = {}
circular['itself'] = circular

/** Calls, and the code and the message of the error. */
const wrongCalls: [call: (memory: any) => unknown, code: string, says: RegExp][] = [
  [(memory) => memory.call('nope', {}), 'not-found', /no tool `nope` is mounted.*there are /],
  [(memory) => memory.call('get_memory', {}), 'not-found', /no tool `get_memory` is mounted/],
  [(memory) => memory.call(), 'invalid-request', /the name of a tool is not a string/],
  [(memory) => memory.call('list_sessions', null), 'invalid-request', /arguments/],
  [(memory) => memory.call('list_sessions', 'ada'), 'invalid-request', /arguments/],
  [(memory) => memory.call('list_sessions', '{"agent_name": "ada"}'), 'invalid-request', /arguments/],
  [(memory) => memory.call('list_sessions', [{ agent_name: 'ada' }]), 'invalid-request', /arguments/],
  [(memory) => memory.call('list_sessions', 5), 'invalid-request', /arguments/],
  [(memory) => memory.call('list_sessions', circular), 'invalid-request', /cannot be written as JSON/],
  [(memory) => memory.call('list_sessions', { limit: NaN }), 'invalid-request', /`NaN` is no JSON number/],
  [(memory) => memory.call('list_sessions', { agent_name: '\ud800' }), 'invalid-request', /arguments/],
  [(memory) => memory.call('list_sessions', {}, null), 'invalid-request', /third argument is no vector/],
  [
    (memory) => memory.call('list_sessions', {}, { signal: AbortSignal.abort() }),
    'invalid-request',
    /third argument is no vector of a search: leave it out/,
  ],
  [
    (memory) => memory.call('search_memory', { query: 'a' }, { text: 'a', vector: [NaN] }),
    'invalid-request',
    /third argument is no vector/,
  ],
  [
    (memory) => memory.call('search_memory', { query: 'a' }, { text: 'a', vector: 'a' }),
    'invalid-request',
    /third argument is no vector/,
  ],
  [(memory) => memory.readResource(new URL('memory://stats')), 'invalid-request', /URI of a resource is not a string/],
  [(memory) => memory.readResource('memory://nope'), 'not-found', /no resource `memory:\/\/nope` is mounted/],
  [(memory) => memory.getPrompt(), 'invalid-request', /the name of a prompt is not a string/],
  [(memory) => memory.getPrompt('nope', {}), 'not-found', /no prompt `nope` is mounted/],
  [(memory) => memory.complete(), 'invalid-request', /the completion is not an object: give one with `reference`/],
  [(memory) => memory.complete({}), 'invalid-request', /the reference of a completion is not an object: give one with/],
  [(memory) => memory.complete({ reference: {} }), 'invalid-request', /the resource template is not a string/],
  [
    (memory) => memory.complete({ reference: { prompt: 'nope' }, argument: 'a', value: '' }),
    'not-found',
    /no prompt `nope` is mounted/,
  ],
  [(memory) => memory.claim(5, 90), 'invalid-request', /the id of a follow-up is not a string/],
  [(memory) => memory.claim('layers/1', '90'), 'invalid-request', /the lease is not a whole number of seconds/],
  [(memory) => memory.claim('nope', 90), 'not-found', /no follow-up `nope` is mounted/],
  [(memory) => memory.answer('nope', {}), 'not-found', /no follow-up `nope` is mounted/],
  [(memory) => memory.withReach(), 'invalid-request', /the reach is wrong: it is not an object; give `agents`/],
  [(memory) => memory.withReach([]), 'invalid-request', /the reach is wrong: it is not an object/],
  [(memory) => memory.withReach({ agents: null }), 'invalid-request', /`agents` is not an array of names/],
]

test('a wrong call rejects with a `MemoryCallError`, and the next call works', async () => {
  await using memory = await openMemory({ allow: [emptyRepository()] })
  for (const [call, code, says] of wrongCalls) {
    await assert.rejects(
      async () => call(memory),
      (error) => {
        assert.ok(error instanceof MemoryCallError, `${says}: ${error}`)
        assert.deepEqual([error.code, says.test(error.message)], [code, true], `${says}: ${error.message}`)
        return true
      },
      String(says),
    )
  }
  assert.ok(!(await memory.call('start_session', { agent_name: 'ada' })).isError)
})

test('arguments that a tool refuses are an outcome that says what to do', async () => {
  await using memory = await openMemory({ allow: [emptyRepository()] })
  for (const [input, says] of [
    [{}, /agent_name/],
    [{ agent_name: 5 }, /agent_name/],
    [{ agent_name: 'ada', agent: 'ada' }, /agent/],
    [{ agent_name: 'ada', repo_root: 'repo' }, /absolute/],
    [{ agent_name: 'ada', repo_root: '${HOME}/repo' }, /absolute/],
  ] as const) {
    const outcome = await memory.call('start_session' as string, input)
    assert.ok(outcome.isError, JSON.stringify(input))
    assert.match(outcome.error.message, says)
  }
})

const requests: [name: string, request: (memory: AgentMemory) => Promise<unknown>][] = [
  ['call', (memory) => memory.call('list_sessions', { agent_name: 'ada' })],
  ['readResource', (memory) => memory.readResource('sessions://ada/summary')],
  ['getPrompt', (memory) => memory.getPrompt('resume_session', {})],
  ['complete', (memory) => memory.complete({ reference: { prompt: 'a' }, argument: 'a', value: '' })],
  ['pending', (memory) => memory.pending()],
  ['claim', (memory) => memory.claim('layers/1', 90)],
  ['answer', (memory) => memory.answer('layers/1', { error: 'none' })],
  ['call of a view', async (memory) => memory.withReach({}).call('list_sessions', { agent_name: 'ada' })],
]

test('a memory may be closed twice, and every later request rejects with `closed`', async () => {
  const memory = await openMemory({ allow: [emptyRepository()] })
  const view = memory.withReach({ agents: ['ada'] })
  assert.ok(!(await memory.call('start_session', { agent_name: 'ada' })).isError)
  await Promise.all([memory.close(), memory.close()])
  await memory.close()
  await memory[Symbol.asyncDispose]()
  for (const [name, request] of requests)
    await assert.rejects(request(memory), { name: 'MemoryCallError', code: 'closed', message: /open another/ }, name)
  await assert.rejects(view.call('list_sessions', { agent_name: 'ada' }), { code: 'closed' })
  assert.ok(memory.tools.length > 0, 'the lists stay')
})

test('two memories of one directory work side by side, and one is not closed with the other', async () => {
  const directory = join(emptyDirectory(), 'memories')
  const open = () => openMemory({ allow: [], toolsets: ['records'], settings: { records: { directory } } })
  const [one, other] = await Promise.all([open(), open()])
  const add = (memory: AgentMemory, n: number) =>
    memory.call('add_core_memory', { agent_id: 'ada', content: `The port is ${n}.` })
  const added = await Promise.all([1, 2, 3, 4].map((n) => add(n % 2 ? one : other, n)))
  assert.ok(added.every(({ isError }) => !isError))
  await one.close()
  assert.ok(!(await add(other, 5)).isError)
  const found = await other.call('query_memories', { agent_id: 'ada' })
  assert.ok(!found.isError && found.result.total === 5, JSON.stringify(found))
  await other.close()
})

test('the tools of an application without an agent are refused', async () => {
  await using memory = await openMemory({ allow: [] })
  for (const wrong of [undefined, {}, { agent: null }] as any[])
    assert.throws(() => modelTools(memory, wrong), /^TypeError: `agent` is missing: name the agent, such as/)
})
