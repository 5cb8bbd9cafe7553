import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitLinearMemory } from '../../dist/worker/linear-memory.js'

const page = 64 * 1024

/** A module that exports the one memory that it defines, as its limits say: flags, least and most pages. */
function moduleWith(...limits: number[]): Uint8Array {
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
  const custom = [0, 3, 1, 0x61, 5]
  const memory = [5, limits.length + 1, 1, ...limits]
  const exported = [7, 5, 1, 1, 0x6d, 2, 0]
  return Uint8Array.from([...header, ...custom, ...memory, ...exported])
}

/** How many pages the memory of a capped module can have. */
function mostPages(module: Uint8Array, limit: number): number {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(limitLinearMemory(module, limit)))
  const memory = exports['m'] as WebAssembly.Memory
  assert.equal(memory.buffer.byteLength, page)
  for (;;) {
    try {
      memory.grow(1)
    } catch {
      return memory.buffer.byteLength / page
    }
  }
}

for (const [what, limits, limit, most] of [
  ['no maximum', [0, 1], 5 * page, 5],
  ['a maximum above the limit', [1, 1, 9], 5 * page, 5],
  ['a maximum of its own below the limit', [1, 1, 3], 5 * page, 3],
  ['a maximum of more than one byte', [1, 1, 0x80, 0x02], 200 * page, 200],
  ['no maximum, and a limit that is no whole page', [0, 1], 3 * page - 1, 2],
] as const) {
  test(`a module whose memory has ${what} gets the lesser one`, () => {
    assert.equal(mostPages(moduleWith(...limits), limit), most)
  })
}

test('a module that begins with more, or has another kind of memory, is refused', () => {
  assert.throws(() => limitLinearMemory(moduleWith(0, 6), 5 * page), /starts with 6 pages of memory; the limit is 5/)
  for (const flags of [2, 3, 4, 5])
    assert.throws(() => limitLinearMemory(moduleWith(flags, 1, 1), 5 * page), /shared or a 64-bit/)
})
