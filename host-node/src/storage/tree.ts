import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { lstatSync, readdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Area, Document, Entry, Status } from '../generated/component/interfaces/agent-memory-storage-documents.js'
import { attempt, StorageError, undefinedIfMissing } from './error.ts'
import { directorySegmentsOf, isOwnName, isTemporary, segmentsOf } from './paths.ts'
import { findDirectory, type LockDirectory, readRegular, type Root } from './directory.ts'

/** The most bytes of a document. */
export const maxDocumentBytes = 16 * 1024 * 1024
/** The most entries of a directory that is listed. */
const maxEntries = 100_000

/** A granted place: the directories of its documents and of its lock. */
export interface GrantedPlace {
  /** The path as the person who granted it would write it, for messages and answers. */
  readonly location: string
  readonly documents: Root
  /** The lock's directory, which also has the bookkeeping and the derived databases. */
  readonly lock: LockDirectory
  /** The names of the databases that a call may open. Of a single file: its one name for the component. */
  readonly databases: readonly string[]
  /** For a place that is a single file: the name of the file, which is its database whatever its name. */
  readonly file?: string | undefined
}

/** The directory of each area of a tree. */
export type Areas = Readonly<Record<Area, Root>>

export function areasOf({ documents, lock }: GrantedPlace): Areas {
  return { documents, bookkeeping: { ...lock, segments: [...lock.segments, 'bookkeeping'] } }
}

/** The segments of a document's path in an area. Throws if the path is invalid or leads to the host's own files. */
export function segmentsIn(root: Root, path: string): string[] {
  return rejectOwnNames(root, path, segmentsOf(path))
}

/** The version of a document: its SHA-256 in lower-case hexadecimal digits, in every host. */
export function versionOf(contents: Uint8Array): string {
  return hash('sha256', contents)
}

export function readDocument(areas: Areas, area: Area, path: string, maxBytes: bigint): Document | undefined {
  const segments = segmentsIn(areas[area], path)
  return attempt(`read \`${path}\``, () => {
    const directory = findDirectory(areas[area], segments.slice(0, -1))
    const limit = maxBytes < BigInt(maxDocumentBytes) ? Number(maxBytes) : maxDocumentBytes
    const contents = directory === undefined ? undefined : readRegular(directory, segments.at(-1)!, limit, path)
    return contents && { contents, version: versionOf(contents) }
  })
}

/** The status of a path, or undefined if nothing is there. Errors name the root by its `location`. */
export function statusAt(areas: Areas, area: Area, path: string, location = '.'): Status | undefined {
  const segments = rejectOwnNames(areas[area], path, directorySegmentsOf(path))
  if (areas[area].isClosed) return undefined
  return attempt(`look at \`${path || location}\``, () => {
    const { anchor, segments: rootSegments } = areas[area]
    const all = [...rootSegments, ...segments]
    const directory = findDirectory({ anchor, segments: all.slice(0, -1) }, [])
    return directory === undefined ? undefined : statusOf(join(directory, all.at(-1) ?? ''))
  })
}

/**
 * The entries of a directory, or undefined if there is none. Errors name the root by its `location`. Removes the
 * temporary files that killed writers have left, if `mayClean` says so: the caller then holds the lock of the place.
 */
export function listDirectory(
  areas: Areas,
  area: Area,
  path: string,
  location = '.',
  mayClean: () => boolean = () => false,
): Entry[] | undefined {
  const segments = rejectOwnNames(areas[area], path, directorySegmentsOf(path))
  if (areas[area].isClosed) return undefined
  const hidden = segments.length === 0 ? areas[area].ownNames : []
  return attempt(`list \`${path || location}\``, () => {
    const directory = findDirectory(areas[area], segments)
    const names = directory === undefined ? undefined : undefinedIfMissing(() => namesIn(directory, mayClean))
    return names?.flatMap((name) => (isOwnName(name, hidden) ? [] : (entryAt(directory!, name) ?? [])))
  })
}

function rejectOwnNames({ ownNames, isClosed }: Root, path: string, segments: string[]): string[] {
  if (segments.length === 0) return segments
  if (isClosed) throw new StorageError('invalid-path', `\`${path}\` is in a place that is one database file`)
  if (!isOwnName(segments[0]!, ownNames)) return segments
  throw new StorageError(
    'invalid-path',
    `\`${path}\` is not a path of a tree: it leads to what the host keeps for itself`,
  )
}

/**
 * The names in a directory in byte order, which differs from the order of JavaScript strings. Temporary files are left
 * out, and so are names that are not UTF-8.
 */
function namesIn(directory: string, mayClean: () => boolean): string[] {
  const names = readdirSync(directory, { encoding: 'buffer' })
  if (names.length > maxEntries) {
    throw new StorageError('too-large', `the directory has more than ${maxEntries} entries`)
  }
  const texts = names
    .filter((name) => isUtf8(name))
    .sort(Buffer.compare)
    .map((name) => name.toString('utf8'))
  const temporary = texts.filter(isTemporary)
  if (temporary.length === 0) return texts
  if (mayClean()) for (const name of temporary) removeIfPossible(join(directory, name))
  return texts.filter((name) => !isTemporary(name))
}

/** Removes a file that does no harm if it stays. */
function removeIfPossible(path: string): void {
  try {
    unlinkSync(path)
  } catch {}
}

function entryAt(directory: string, name: string): Entry | undefined {
  const status = statusOf(join(directory, name))
  return status && { name, status }
}

/** The status of a path. Symbolic links are not followed. Every host makes the same stamp. */
function statusOf(path: string): Status | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (!stats.isFile()) return { kind: stats.isDirectory() ? 'directory' : 'other', size: 0n, stamp: '' }
  const { size, mtimeNs, ctimeNs, ino } = stats
  return { kind: 'file', size, stamp: `${size}-${mtimeNs}-${ctimeNs}-${ino}` }
}
