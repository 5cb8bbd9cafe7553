import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { opendirSync } from 'node:fs'
import { join } from 'node:path'
import type { Document, Entry, Side } from '../generated/component/interfaces/agent-memory-core-documents.js'
import { attempt, StorageFailure, unlessMissing } from './failure.ts'
import { directorySegmentsOf, isTemporary, segmentsOf } from './paths.ts'
import type { Repository } from './repository.ts'
import { findDirectory, lookAt, readRegular, type Root } from './walk.ts'

/** The longest document, in bytes. */
export const longestDocument = 16 * 1024 * 1024
const mostEntries = 100_000

/** Where each side of a repository's tree stands. */
export type Sides = Readonly<Record<Side, Root>>

export function sidesOf({ documents, lock }: Repository): Sides {
  return { documents, bookkeeping: { anchor: lock.anchor, segments: [...lock.segments, 'bookkeeping'] } }
}

/** Lower-case hexadecimal SHA-256, in every host. */
export function versionOf(contents: Uint8Array): string {
  return hash('sha256', contents)
}

export function readDocument(sides: Sides, side: Side, path: string, maxBytes: bigint): Document | undefined {
  const segments = segmentsOf(path)
  return attempt(`read \`${path}\``, () => {
    const directory = findDirectory(sides[side], segments.slice(0, -1))
    const limit = maxBytes < BigInt(longestDocument) ? Number(maxBytes) : longestDocument
    const contents = directory === undefined ? undefined : readRegular(directory, segments.at(-1)!, limit)
    return contents && { contents, version: versionOf(contents) }
  })
}

export function listDirectory(sides: Sides, side: Side, path: string): Entry[] | undefined {
  const segments = directorySegmentsOf(path)
  return attempt(`list \`${path}\``, () => {
    const directory = findDirectory(sides[side], segments)
    const names = directory === undefined ? undefined : unlessMissing(() => namesIn(directory))
    return names?.flatMap((name) => entryAt(directory!, name) ?? [])
  })
}

/** In byte order, which is not the order of JavaScript's strings. What is not UTF-8 is no name of ours. */
function namesIn(directory: string): string[] {
  const names: Buffer[] = []
  const handle = opendirSync(directory, { encoding: 'buffer' as BufferEncoding })
  try {
    for (let entry; (entry = handle.readSync()) !== null;) {
      if (names.length === mostEntries) {
        throw new StorageFailure('too-large', `the directory has more than ${mostEntries} entries`)
      }
      names.push(entry.name as unknown as Buffer)
    }
  } finally {
    handle.closeSync()
  }
  const texts = names
    .filter((name) => isUtf8(name))
    .sort(Buffer.compare)
    .map((name) => name.toString('utf8'))
  return texts.filter((name) => !isTemporary(name))
}

function entryAt(directory: string, name: string): Entry | undefined {
  const stats = lookAt(join(directory, name))
  if (stats === undefined) return undefined
  if (stats.isFile()) return { name, kind: 'file', size: BigInt(stats.size) }
  return { name, kind: stats.isDirectory() ? 'directory' : 'other', size: 0n }
}
