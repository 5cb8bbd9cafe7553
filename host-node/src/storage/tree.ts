import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { opendirSync } from 'node:fs'
import { join } from 'node:path'
import type { Document, Entry, Side } from '../generated/component/interfaces/agent-memory-core-documents.js'
import { attempt, StorageFailure, unlessMissing } from './failure.ts'
import { directorySegmentsOf, isOwn, isTemporary, segmentsOf } from './paths.ts'
import { findDirectory, lookAt, readRegular, type Root } from './walk.ts'

/** The longest document, in bytes. */
export const longestDocument = 16 * 1024 * 1024
const mostEntries = 100_000

/** A granted tree: where its documents are, and its lock with its private side. */
export interface Granted {
  /** For messages only: as the person who granted it would name it. */
  readonly location: string
  readonly documents: Root
  readonly lock: Root
}

/** Where each side of a tree stands. */
export type Sides = Readonly<Record<Side, Root>>

export function sidesOf({ documents, lock }: Granted): Sides {
  return { documents, bookkeeping: { ...lock, segments: [...lock.segments, 'bookkeeping'] } }
}

/** The segments of a document's path in a side. */
export function segmentsIn(root: Root, path: string): string[] {
  return checkOwn(root, path, segmentsOf(path))
}

/** Lower-case hexadecimal SHA-256, in every host. */
export function versionOf(contents: Uint8Array): string {
  return hash('sha256', contents)
}

export function readDocument(sides: Sides, side: Side, path: string, maxBytes: bigint): Document | undefined {
  const segments = segmentsIn(sides[side], path)
  return attempt(`read \`${path}\``, () => {
    const directory = findDirectory(sides[side], segments.slice(0, -1))
    const limit = maxBytes < BigInt(longestDocument) ? Number(maxBytes) : longestDocument
    const contents = directory === undefined ? undefined : readRegular(directory, segments.at(-1)!, limit)
    return contents && { contents, version: versionOf(contents) }
  })
}

/** What is directly in a directory; errors call the root by its `location`. */
export function listDirectory(sides: Sides, side: Side, path: string, location = '.'): Entry[] | undefined {
  const segments = checkOwn(sides[side], path, directorySegmentsOf(path))
  const hidden = segments.length === 0 ? sides[side].ownNames : []
  return attempt(`list \`${path || location}\``, () => {
    const directory = findDirectory(sides[side], segments)
    const names = directory === undefined ? undefined : unlessMissing(() => namesIn(directory))
    return names?.flatMap((name) => (isOwn(name, hidden) ? [] : (entryAt(directory!, name) ?? [])))
  })
}

function checkOwn({ ownNames }: Root, path: string, segments: string[]): string[] {
  if (segments.length === 0 || !isOwn(segments[0]!, ownNames)) return segments
  throw new StorageFailure(
    'invalid-path',
    `\`${path}\` is not a path of a tree: it leads to what the host keeps for itself`,
  )
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
