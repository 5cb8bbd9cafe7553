import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Area, Document, Entry, Status } from '../generated/component/interfaces/agent-memory-storage-documents.js'
import { attempt, StorageFailure, unlessMissing } from './error.ts'
import { directorySegmentsOf, isOwn, isTemporary, segmentsOf } from './paths.ts'
import { findDirectory, readRegular, type Root } from './directory.ts'

/** The longest document, in bytes. */
export const longestDocument = 16 * 1024 * 1024
const mostEntries = 100_000

/** A granted place: where its documents are, and its lock with its bookkeeping. */
export interface Granted {
  /** For messages only: as the person who granted it would name it. */
  readonly location: string
  readonly documents: Root
  readonly lock: Root
  /** The names of the databases that may be kept among its documents. */
  readonly databases: readonly string[]
}

/** Where each area of a tree stands. */
export type Areas = Readonly<Record<Area, Root>>

export function areasOf({ documents, lock }: Granted): Areas {
  return { documents, bookkeeping: { ...lock, segments: [...lock.segments, 'bookkeeping'] } }
}

/** The segments of a document's path in an area. */
export function segmentsIn(root: Root, path: string): string[] {
  return checkOwn(root, path, segmentsOf(path))
}

/** Lower-case hexadecimal SHA-256, in every host. */
export function versionOf(contents: Uint8Array): string {
  return hash('sha256', contents)
}

export function readDocument(areas: Areas, area: Area, path: string, maxBytes: bigint): Document | undefined {
  const segments = segmentsIn(areas[area], path)
  return attempt(`read \`${path}\``, () => {
    const directory = findDirectory(areas[area], segments.slice(0, -1))
    const limit = maxBytes < BigInt(longestDocument) ? Number(maxBytes) : longestDocument
    const contents = directory === undefined ? undefined : readRegular(directory, segments.at(-1)!, limit)
    return contents && { contents, version: versionOf(contents) }
  })
}

/** What stands at a path. */
export function statusAt(areas: Areas, area: Area, path: string, location = '.'): Status | undefined {
  const segments = checkOwn(areas[area], path, directorySegmentsOf(path))
  return attempt(`look at \`${path || location}\``, () => {
    const { anchor, segments: way } = areas[area]
    const whole = [...way, ...segments]
    const directory = findDirectory({ anchor, segments: whole.slice(0, -1) }, [])
    return directory === undefined ? undefined : statusOf(join(directory, whole.at(-1) ?? ''))
  })
}

/** What is directly in a directory; errors call the root by its `location`. */
export function listDirectory(areas: Areas, area: Area, path: string, location = '.'): Entry[] | undefined {
  const segments = checkOwn(areas[area], path, directorySegmentsOf(path))
  const hidden = segments.length === 0 ? areas[area].ownNames : []
  return attempt(`list \`${path || location}\``, () => {
    const directory = findDirectory(areas[area], segments)
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
  const names = readdirSync(directory, { encoding: 'buffer' })
  if (names.length > mostEntries) {
    throw new StorageFailure('too-large', `the directory has more than ${mostEntries} entries`)
  }
  const texts = names
    .filter((name) => isUtf8(name))
    .sort(Buffer.compare)
    .map((name) => name.toString('utf8'))
  return texts.filter((name) => !isTemporary(name))
}

function entryAt(directory: string, name: string): Entry | undefined {
  const status = statusOf(join(directory, name))
  return status && { name, status }
}

/** What stands at a path itself. The stamp is the same in every host. */
function statusOf(path: string): Status | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (!stats.isFile()) return { kind: stats.isDirectory() ? 'directory' : 'other', size: 0n, stamp: '' }
  const { size, mtimeNs, ctimeNs, ino } = stats
  return { kind: 'file', size, stamp: `${size}-${mtimeNs}-${ctimeNs}-${ino}` }
}
