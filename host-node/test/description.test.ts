import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listsOf, mountedToolsets, readOnlyToolNames, type Toolset } from '../dist/description.js'
import { first, second, settled } from './fixtures/toolsets.ts'

test('the named or default toolsets are mounted, in the order of the description', () => {
  const names = (toolsets?: readonly string[]) => settled(toolsets && { toolsets }).mounted.map(({ name }) => name)
  assert.deepEqual(names(), ['first'])
  assert.deepEqual(names([]), [])
  assert.deepEqual(names(['second', 'first']), ['first', 'second'])
  assert.deepEqual(names(['all']), ['first', 'second'])
  assert.throws(() => names(['second', 'third']), {
    message: 'the option `toolsets` has `third`, which does not exist; there are `first`, `second`, `all`',
  })
  assert.throws(() => names('all' as unknown as string[]), { message: /`toolsets` is not an array/ })
})

test('a toolset that can be left out is mounted with any other', () => {
  const along = { ...second, name: 'along', left_out_by: 'not' }
  const mounted = (names: readonly string[] | undefined, not?: boolean) => {
    const values = new Map(not === undefined ? [] : [['along', { not }]])
    return mountedToolsets({ toolsets: [first, second, along] }, names, values).map(({ name }) => name)
  }
  for (const [names, also, without] of [
    [undefined, ['first', 'along'], ['first']],
    [[], [], []],
    [['second'], ['second', 'along'], ['second']],
    [['all'], ['first', 'second', 'along'], ['first', 'second']],
    [['along'], ['along'], ['along']],
    [
      ['along', 'first'],
      ['first', 'along'],
      ['first', 'along'],
    ],
  ] as const) {
    assert.deepEqual(mounted(names), also)
    assert.deepEqual(mounted(names, false), also)
    assert.deepEqual(mounted(names, true), without)
  }
})

test('two mounted tools of one name are listed by their qualified names', () => {
  const tool = (toolset: string, name: string, shared_with: string[], readOnlyHint: boolean) => ({
    name,
    qualified_name: `${toolset}_${name}`,
    shared_with,
    title: name,
    description: name,
    inputSchema: { type: 'object' as const },
    outputSchema: { type: 'object' as const },
    annotations: { readOnlyHint, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    audience: 'model' as const,
    always_visible: false,
  })
  const a = { ...first, tools: [tool('first', 'find', ['second'], true), tool('first', 'read', [], true)] }
  const b = { ...second, tools: [tool('second', 'find', ['first'], false)] }
  const names = (...mounted: Toolset[]) => listsOf(mounted).tools.map(({ name }) => name)
  assert.deepEqual(
    [names(a), names(b), names(a, b)],
    [['find', 'read'], ['find'], ['first_find', 'read', 'second_find']],
  )
  assert.deepEqual(Object.keys(listsOf([a, b]).tools[0]!), [
    ...['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations', 'audience', 'always_visible'],
  ])
  assert.deepEqual([...readOnlyToolNames([a, b])].sort(), ['first_find', 'first_read', 'read'])
  assert.deepEqual([...readOnlyToolNames([a])].sort(), ['find', 'first_find', 'first_read', 'read'])
})
