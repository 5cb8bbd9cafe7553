import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openMemory } from 'agent-memory'
import { emptyDirectory } from './fixtures/scratch.ts'

const layers = () =>
  openMemory({ allow: [], toolsets: ['layers'], settings: { layers: { file: join(emptyDirectory(), 'layers.db') } } })

test('the prompts are those of the component, and one is returned with its text', async () => {
  await using memory = await layers()
  assert.deepEqual(
    memory.prompts.map(({ name, arguments: args }) => [name, args.map(({ name, required }) => [name, required])]),
    [['resume_session', [['agent_id', true]]]],
  )
  const added = await memory.call('set_current_task', { agent_id: 'ada', task: 'Write the parser.' })
  assert.ok(!added.isError)
  const prompt = await memory.getPrompt('resume_session', { agent_id: 'ada' })
  assert.ok(!prompt.isError)
  const [message, ...more] = prompt.result.messages
  assert.deepEqual([message!.role, more], ['user', []])
  assert.match(message!.text, /Write the parser\./)
  const refused = await memory.getPrompt('resume_session', { agent_id: '../x' })
  assert.ok(refused.isError && refused.error.category === 'invalid')
})

test('an argument is completed for a prompt and a resource template', async () => {
  await using memory = await layers()
  for (const agent_id of ['ada', 'bob']) await memory.call('set_current_task', { agent_id, task: 'Write.' })
  const [template] = memory.resourceTemplates
  for (const reference of [{ prompt: 'resume_session' }, { resourceTemplate: template!.uriTemplate }]) {
    const completed = await memory.complete({ reference, argument: 'agent_id', value: 'b' })
    assert.ok(!completed.isError)
    assert.deepEqual(completed.result, ['bob'])
  }
})

test('an unknown or misused prompt rejects', async () => {
  await using memory = await layers()
  await assert.rejects(memory.getPrompt('nope', {}), { code: 'not-found' })
  await assert.rejects(memory.getPrompt('resume_session', {}), { code: 'invalid-request', message: /`agent_id`/ })
  await assert.rejects(memory.getPrompt(5 as never, {}), { code: 'invalid-request' })
  const reference = { prompt: 'resume_session' }
  await assert.rejects(memory.complete({ reference, argument: 'nope', value: '' }), { code: 'not-found' })
  await assert.rejects(memory.complete({ reference, argument: 'agent_id', value: 5 as never }), {
    code: 'invalid-request',
  })
  await assert.rejects(memory.complete({ reference: {} as never, argument: 'agent_id', value: '' }), {
    code: 'invalid-request',
  })
})
