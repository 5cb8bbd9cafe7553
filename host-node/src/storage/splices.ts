import type { Splice } from '../generated/component/interfaces/agent-memory-storage-documents.js'

/** The contents with all splices applied. Undefined if they overlap, are out of order or beyond the end. */
export function applySplices(contents: Buffer, splices: readonly Splice[]): Buffer | undefined {
  const pieces: Uint8Array[] = []
  let at = 0
  for (const { at: start, removes, inserts } of splices) {
    const [from, to] = [Number(start), Number(start + removes)]
    if (from < at || to > contents.length) return undefined
    pieces.push(contents.subarray(at, from), inserts)
    at = to
  }
  return Buffer.concat([...pieces, contents.subarray(at)])
}
