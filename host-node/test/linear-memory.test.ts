import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitLinearMemory } from '../dist/linear-memory.js'

const page = 64 * 1024

/** A module that defines and exports one memory. The limits are its flags, minimum and maximum, as encoded bytes. */
function moduleWith(...limits: number[]): Uint8Array {
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
  const custom = [0, 3, 1, 0x61, 5]
  const memory = [5, limits.length + 1, 1, ...limits]
  const exported = [7, 5, 1, 1, 0x6d, 2, 0]
  return Uint8Array.from([...header, ...custom, ...memory, ...exported])
}

/** The number of pages to which the memory of a limited module can grow. */
function maxPages(module: Uint8Array, limit: number): number {
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

for (const [what, limits, limit, max] of [
  ['no maximum', [0, 1], 5 * page, 5],
  ['a maximum above the limit', [1, 1, 9], 5 * page, 5],
  ['a maximum below the limit', [1, 1, 3], 5 * page, 3],
  ['a maximum of more than one byte', [1, 1, 0x80, 0x02], 200 * page, 200],
  ['a maximum with room for any other', [1, 1, 0xff, 0xff, 0x03], 200 * page, 200],
  ['a smaller maximum with room for any other', [1, 1, 0x83, 0x80, 0x00], 200 * page, 3],
  ['no maximum, and a limit that is not a multiple of a page', [0, 1], 3 * page - 1, 2],
] as const) {
  test(`a module whose memory has ${what} gets the smaller of its maximum and the limit`, () => {
    assert.equal(maxPages(moduleWith(...limits), limit), max)
  })
}

test('a module is refused if its initial memory exceeds the limit, or is shared or 64-bit', () => {
  assert.throws(() => limitLinearMemory(moduleWith(0, 6), 5 * page), /starts with 6 pages of memory; the limit is 5/)
  for (const flags of [2, 3, 4, 5])
    assert.throws(() => limitLinearMemory(moduleWith(flags, 1, 1), 5 * page), /shared or a 64-bit/)
})
