import type { Splice } from '../generated/component/interfaces/agent-memory-storage-documents.js'

/** The contents with all splices, or undefined where they do not fit. */
export function spliced(contents: Buffer, splices: readonly Splice[]): Buffer | undefined {
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
