import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type AgentMemory, MemoryCallError, type MemoryOptions, openMemory } from 'agent-memory'
import { Lock } from '../dist/storage/lock.js'
import { monotonic } from '../dist/time.js'
import { openRepository } from './fixtures/places.ts'
import { emptyRepository, holdInOtherProcess, repositoryFile } from './fixtures/scratch.ts'

const log = '.github/agent-memory/aristotle/logs/2025-01-20.md'

async function session({ allow = [], ...options }: Partial<MemoryOptions> = {}): Promise<{
  repository: string
  memory: AgentMemory
}> {
  const repository = emptyRepository()
  const memory = await openMemory({
    allow: [repository, ...allow],
    clock: { now: '2025-01-20T10:00:00Z' },
    random: { seed: 1 },
    utcOffset: 0,
    ...options,
  })
  const started = await memory.call('start_session', { agent_name: 'aristotle', repo_root: repository })
  assert.equal(started.isError, false)
  return { repository, memory }
}

const entry = (repository: string, content: string) => ({
  agent_name: 'aristotle',
  repo_root: repository,
  section: 'Context',
  content,
})

test('the tools have the descriptions and schemas of the component', async () => {
  await using memory = await openMemory({ allow: [] })
  const append = memory.tools.find((tool) => tool.name === 'append_entry')!
  assert.equal(append.annotations.readOnlyHint, false)
  assert.equal(append.inputSchema['additionalProperties'], false)
  assert.ok(append.description.length > 0 && append.outputSchema)
})

test('a tool for people is marked, and called like any other', async () => {
  const repository = emptyRepository()
  await using memory = await openMemory({ allow: [repository] })
  const forPeople = memory.tools.filter((tool) => tool.audience === 'person').map((tool) => tool.name)
  assert.deepEqual(forPeople, ['validate', 'drop_vectors'])
  const page = await memory.call('validate', { repo_root: repository })
  assert.ok(!page.isError)
  assert.deepEqual(page.result, { findings: [], done: 0, total: 0 })
})

test('the name of a tool gives the types of its input and result', async () => {
  const { repository, memory } = await session()
  const outcome = await memory.call('append_entry', entry(repository, 'We begin.'))
  assert.ok(!outcome.isError)
  assert.equal(outcome.result.session_file, log)
  // @ts-expect-error: a known tool's input is checked by the compiler.
  const refused = await memory.call('append_entry', { agent_name: 'aristotle' })
  assert.ok(refused.isError)
  assert.equal(refused.error.code, 'InvalidInput')
  await memory.close()
})

test('a name that is known only at run time takes any object', async () => {
  await using memory = await openMemory({ allow: [] })
  const { name }: { name: string } = memory.tools[0]!
  const outcome = await memory.call(name, {})
  assert.ok(outcome.isError)
})

test('an unknown tool and arguments that are not an object reject with a `MemoryCallError`', async () => {
  await using memory = await openMemory({ allow: [] })
  const rejects = (call: Promise<unknown>, code: string) =>
    assert.rejects(call, (error) => error instanceof MemoryCallError && error.code === code)
  await rejects(memory.call('nope' as string, {}), 'not-found')
  await rejects(memory.call('read_summary' as string, []), 'invalid-request')
  await rejects(memory.call(5 as unknown as string, {}), 'invalid-request')
  await rejects(memory.readResource(undefined as unknown as string), 'invalid-request')
  await rejects(memory.call('read_summary' as string, { n: 1n }), 'invalid-request')
})

test('a repository that is not allowed is refused, and the outcome says how to allow it', async () => {
  const { memory } = await session()
  const outcome = await memory.call('read_summary', { agent_name: 'aristotle', repo_root: emptyRepository() })
  assert.ok(outcome.isError)
  assert.equal(outcome.error.code, 'RepositoryNotAllowed')
  assert.match(outcome.error.message, /`allow`/)
  await memory.close()
})

test('200 concurrent calls lose nothing and keep their order', async () => {
  const { repository, memory } = await session({ durability: 'relaxed' })
  const numbers = Array.from({ length: 200 }, (_, n) => n)
  const outcomes = await Promise.all(numbers.map((n) => memory.call('append_entry', entry(repository, `entry ${n}.`))))
  assert.deepEqual(
    outcomes.filter((outcome) => outcome.isError),
    [],
  )
  const written = [...readFileSync(join(repository, log), 'utf8').matchAll(/entry (\d+)\./g)].map((match) =>
    Number(match[1]),
  )
  assert.deepEqual(written, numbers)
  await memory.close()
})

test('neither the event loop nor reads wait while a writer waits for the lock', async () => {
  const { repository, memory } = await session({ workers: 2, lockWait: 60_000 })
  const other = await holdInOtherProcess(repository)
  const waiting = Array.from({ length: 5 }, (_, n) => memory.call('append_entry', entry(repository, `waits ${n}`)))
  const read = await memory.call('read_summary', { agent_name: 'aristotle', repo_root: repository })
  assert.equal(read.isError, false)
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.doesNotMatch(readFileSync(join(repository, log), 'utf8'), /waits/)
  await other.release()
  assert.deepEqual(
    (await Promise.all(waiting)).map((outcome) => outcome.isError),
    [false, false, false, false, false],
  )
  await memory.close()
})

test('locks of other processes stop neither reads nor writers of another repository, even with one worker', async () => {
  const stuck = [emptyRepository(), emptyRepository(), emptyRepository()]
  const { repository, memory } = await session({ allow: stuck, workers: 1, lockWait: 30_000 })
  const others = await Promise.all(stuck.map(holdInOtherProcess))
  let ended = 0
  const waiting = stuck.map(async (repo_root) => {
    const outcome = await memory.call('start_session', { agent_name: 'aristotle', repo_root })
    ended++
    return outcome.isError
  })
  const free = await Promise.all([
    memory.call('append_entry', entry(repository, 'passes by')),
    memory.call('read_summary', { agent_name: 'aristotle', repo_root: repository }),
  ])
  assert.deepEqual([free.map((outcome) => outcome.isError), ended], [[false, false], 0])
  await Promise.all(others.map((other) => other.release()))
  assert.deepEqual(await Promise.all(waiting), [false, false, false])
  await memory.close()
})

test('a lock is released while the event loop is blocked', async () => {
  const { repository, memory } = await session()
  const appended = memory.call('append_entry', entry(repository, 'We begin.'))
  const written = () => readFileSync(join(repository, log), 'utf8').includes('We begin.')
  // The worker needs the event loop until it may take the lock. After that `acquire` blocks this thread.
  while (!written()) await new Promise((resolve) => setImmediate(resolve))
  const lock = Lock.acquire(openRepository(repository), { atHead: 60_000, total: 60_000 }, monotonic())
  lock.release()
  assert.equal((await appended).isError, false)
  await memory.close()
})

test('a writer that times out gets the error `Busy`, and the next writer works', async () => {
  const { repository, memory } = await session({ lockWait: 50 })
  const other = await holdInOtherProcess(repository)
  const outcome = await memory.call('append_entry', entry(repository, 'too early'))
  assert.ok(outcome.isError)
  assert.equal(outcome.error.code, 'Busy')
  await other.release()
  assert.equal((await memory.call('append_entry', entry(repository, 'in time'))).isError, false)
  await memory.close()
})

test('the same clock, seed and calls make the same documents', async () => {
  const texts = []
  for (let run = 0; run < 2; run++) {
    const { repository, memory } = await session()
    await memory.call('append_entry', entry(repository, 'We begin.'))
    texts.push(readFileSync(join(repository, log), 'utf8'))
    await memory.close()
  }
  assert.equal(texts[0], texts[1])
})

test('closing waits for the calls that were made, and later calls reject', async () => {
  const { repository, memory } = await session()
  const made = memory.call('append_entry', entry(repository, 'the last'))
  await memory.close()
  assert.equal((await made).isError, false)
  await assert.rejects(memory.call('append_entry', entry(repository, 'too late')), { code: 'closed' })
})

test('a memory that is not closed does not keep the process alive', () => {
  const program = `import { openMemory } from 'agent-memory'; await openMemory({ allow: [] }); console.log('open')`
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: repositoryFile('host-node'),
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.deepEqual([stdout, status], ['open\n', 0])
})
