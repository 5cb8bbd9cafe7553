import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { openComponent } from '../dist/agent-memory.js'
import { toolsetTypes } from '../scripts/toolset-types.ts'
import { transpileTo } from '../scripts/transpile.ts'
import { componentIn } from './fixtures/components.ts'
import { emptyDirectory, repositoryFile, write } from './fixtures/scratch.ts'

// A component with the toolset of `tests/guests/toy`, which this host does not know.
const component = repositoryFile('target/component/wasm32-wasip2/component/agent_memory_toy.wasm')
const transpiled = repositoryFile('target/host-node-toy/')

before(async () => {
  assert.ok(existsSync(component), 'the toy is not built: run the Rust tests first')
  await transpileTo(component, transpiled)
})

const open = (settings: object) =>
  openComponent(componentIn(pathToFileURL(transpiled)), { allow: [], workers: 1, settings: { notes: settings } })

test('a toolset that the host does not know runs with its settings', async () => {
  const directory = join(emptyDirectory(), 'notes')
  await using memory = await open({ directory, mark: 'star' })
  const call = (name: string, input: object) => memory.call(name, input)
  assert.deepEqual(
    memory.tools.map(({ name }) => name),
    ['keep_note', 'read_notes', 'count_notes'],
  )
  const kept = await call('keep_note', { text: 'one' })
  assert.deepEqual([kept.isError, kept.result, kept.changed], [false, { count: 1 }, ['notes://all']])
  assert.deepEqual((await call('notes_keep_note', { text: 'two' })).result, { count: 2 })
  assert.equal(readFileSync(join(directory, 'notes.md'), 'utf8'), '* one\n* two\n')
  const refused = await call('keep_note', {})
  assert.ok(refused.isError)
  assert.deepEqual([refused.error.category, refused.error.code], ['invalid', 'NO_TEXT'])
  const [read] = (await memory.readResource('notes://all')).result as { text: string }[]
  assert.equal(read!.text, '* one\n* two\n')
})

test('an invalid or unknown setting is refused when the memory is opened', async () => {
  await assert.rejects(open({ mark: 'plus' }), /`settings\.notes\.mark` .*`dash`, `star`/)
  await assert.rejects(open({ colour: 'red' }), /`settings\.notes\.colour` does not exist/)
})

test('the build makes types for a toolset that the host does not know', async () => {
  const directory = emptyDirectory()
  const description = JSON.parse(readFileSync(join(transpiled, 'description.json'), 'utf8'))
  write(join(directory, 'toolsets.ts'), await toolsetTypes(description))
  const compiles = (program: string) => {
    const file = join(directory, 'program.ts')
    write(file, `import type { Tools, ToolsetSettings } from './toolsets.ts'\n${program}\n`)
    const tsc = repositoryFile('host-node/node_modules/typescript/bin/tsc')
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions', '--ignoreConfig']
    return spawnSync(process.execPath, [tsc, ...options, file], { encoding: 'utf8' })
  }
  const right = compiles(`export const input: Tools['keep_note']['input'] = { text: 'x' }
    export const settings: ToolsetSettings = { notes: { mark: 'star' } }`)
  assert.equal(right.status, 0, right.stdout)
  for (const wrong of [
    `export const input: Tools['keep_note']['input'] = { text: 1 }`,
    `export const settings: ToolsetSettings = { notes: { mark: 'plus' } }`,
    `export type Input = Tools['no_such_tool']`,
  ]) {
    assert.notEqual(compiles(wrong).status, 0, wrong)
  }
})
