import {
  closeSync,
  constants,
  fchmodSync,
  fdatasyncSync,
  linkSync,
  openSync,
  renameSync,
  rmdirSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Change, Edit } from '../generated/component/interfaces/agent-memory-storage-documents.js'
import { CommitError, StorageError, undefinedIfMissing } from './error.ts'
import { temporaryName } from './paths.ts'
import { applySplices } from './splices.ts'
import { type Areas, maxDocumentBytes, segmentsIn, versionOf } from './tree.ts'
import {
  type Durability,
  enterDirectory,
  findDirectory,
  hashRegular,
  lstatIfExists,
  makeSubdirectory,
  wrongKindError,
  type Root,
  syncDirectory,
} from './directory.ts'

const maxChanges = 1000

/** The errors of a file system that cannot make a hard link, or not to this file. */
const linkErrors = new Set(['EPERM', 'EACCES', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS', 'EMLINK', 'EXDEV'])

/**
 * Makes the changes in order while the place's lock is held. Returns the new version of each document, or undefined for
 * a deletion. `checkLock` throws if the lock was lost. It runs at the start and again before each rename.
 *
 * Nothing is visible before the first rename, and an error until then removes everything that was prepared. A later
 * error leaves the changes before it and gives their number.
 *
 * An editor takes no lock. Each document is checked again right before its rename: a file that an editor saves between
 * this check and the rename is lost.
 */
export function commit(
  areas: Areas,
  changes: readonly Change[],
  durability: Durability,
  checkLock: () => void = () => {},
): (string | undefined)[] {
  const run = new Run(areas, durability, checkLock)
  try {
    return run.commit(changes)
  } catch (error) {
    run.cleanUp()
    throw new CommitError(StorageError.from(error, run.action), run.current, run.applied)
  }
}

/** What each change does, for messages. */
const actions = {
  put: 'write',
  edit: 'write',
  copy: 'write',
  delete: 'delete',
  rename: 'rename a document to',
} as const

/** The path of a document in an area. */
interface DocumentPath {
  readonly path: string
  /** The segments below the area's root, without the name. */
  readonly directories: readonly string[]
  readonly name: string
}

/** One change, with what the stages of the commit find out about it. */
interface Step {
  readonly change: Change
  /** The document that is written or deleted. For a copy or a rename, the new path. */
  readonly target: DocumentPath
  /** The document whose version is checked. For a copy or a rename, the old path; otherwise the target. */
  readonly source: DocumentPath
  /** The directory of the target, once it exists. */
  directory?: string
  /** The stats of the source, from the check of its version. */
  sourceStats?: Stats
  sourceVersion?: string
  /** The contents of the source, if it is the only document that the commit edits. */
  sourceContents?: Buffer | undefined
  /** Whether nothing exists at the target yet. */
  isNew?: boolean
  /** The new version, once it is known. */
  version?: string
  /** Whether the temporary file is a hard link to the source. */
  isLinked?: boolean
}

/** A source document as the check of its version found it. */
interface Source {
  readonly version: string
  readonly stats: Stats
  readonly contents?: Buffer | undefined
}

/** One run of a commit through its stages. */
class Run {
  /** The index of the current change; undefined between the stages. */
  current: number | undefined
  /** The number of changes that are applied. */
  applied = 0
  /** The current action, for messages. */
  action = 'commit'
  readonly #areas: Areas
  readonly #durability: Durability
  readonly #checkLock: () => void
  readonly #steps: Step[] = []
  readonly #temporaries = new Set<string>()
  /** The new directories, each after its parent. */
  readonly #made: string[] = []
  /** The directories to sync, in this order. */
  readonly #toSync = new Set<string>()

  constructor(areas: Areas, durability: Durability, checkLock: () => void) {
    this.#areas = areas
    this.#durability = durability
    this.#checkLock = checkLock
  }

  commit(changes: readonly Change[]): (string | undefined)[] {
    this.#checkLock()
    this.#plan(changes)
    this.#each((step) => this.#checkVersion(step))
    this.#each((step) => this.#makeDirectories(step))
    this.#each((step) => this.#writeTemporary(step))
    // Writing, syncing and many renames take long. If the lock's file was removed meanwhile, another writer may be at
    // work on the documents that these changes replace.
    this.#each((step) => this.#apply(step), this.#checkLock)
    this.action = 'make the changes durable'
    this.#syncDirectories()
    return this.#steps.map(({ version }) => version)
  }

  /**
   * Cleans up after a commit that failed: removes the temporary files, and the new directories that are empty, and syncs
   * the changes that are applied. Ignores errors, since the caller reports the one that led here.
   */
  cleanUp(): void {
    for (const path of this.#temporaries) ignoreErrors(() => unlinkSync(path))
    for (const directory of this.#made.toReversed()) ignoreErrors(() => rmdirSync(directory))
    if (this.applied > 0) ignoreErrors(() => this.#syncDirectories())
  }

  /** Runs a stage for each change. `before` runs ahead of each; an error of it names no change. */
  #each(stage: (step: Step) => void, before?: () => void): void {
    for (const [index, step] of this.#steps.entries()) {
      this.current = undefined
      before?.()
      this.current = index
      this.action = `${actions[step.change.tag]} \`${step.target.path}\``
      stage(step)
    }
    this.current = undefined
  }

  #plan(changes: readonly Change[]): void {
    if (changes.length > maxChanges) {
      throw new StorageError('too-large', `a commit has more than ${maxChanges} changes; split it`)
    }
    for (const [index, change] of changes.entries()) {
      this.current = index
      const { tag, val } = change
      const root = this.#areas[val.area]
      const moves = tag === 'copy' || tag === 'rename'
      const target = documentPath(root, moves ? val.to : val.path)
      const source = moves ? documentPath(root, val.from) : target
      if (tag === 'put') checkLength(val.path, val.contents)
      this.#steps.push({ change, target, source })
    }
    this.#checkPaths()
  }

  /** Throws if two changes have one path, or if a path is below a document of the same commit. */
  #checkPaths(): void {
    const key = ({ change, target }: Step, { path } = target) => `${change.val.area}/${path}`
    const seen = new Set<string>()
    this.#each((step) => {
      for (const document of step.change.tag === 'rename' ? [step.source, step.target] : [step.target]) {
        const twice = `\`${document.path}\` stands twice in one commit`
        if (seen.has(key(step, document))) throw new StorageError('invalid-path', twice)
        seen.add(key(step, document))
      }
    })
    const files = new Set(this.#steps.filter(({ change }) => change.tag !== 'delete').map((step) => key(step)))
    this.#each(({ change, target: { path, directories } }) => {
      for (let depth = 1; depth <= directories.length; depth++) {
        const above = directories.slice(0, depth).join('/')
        if (!files.has(`${change.val.area}/${above}`)) continue
        const both = `\`${above}\` cannot be both a document and the directory of \`${path}\``
        throw new StorageError('invalid-path', both)
      }
    })
  }

  #checkVersion(step: Step): void {
    const file = this.#knownSource(step) ?? this.#readSource(step)
    if (file?.version !== step.change.val.expects) throw versionMismatchError(step.source.path)
    if (file !== undefined) {
      step.sourceStats = file.stats
      step.sourceVersion = file.version
      step.sourceContents = file.contents
    }
    const { path, directories, name } = step.target
    const directory = findDirectory(this.#areas[step.change.val.area], directories)
    if (directory !== undefined) step.directory = directory
    const replaced = directory === undefined ? undefined : lstatIfExists(join(directory, name))
    step.isNew = replaced === undefined
    if (replaced === undefined) return
    if (step.change.tag === 'rename') throw alreadyExistsError(path)
    if (!replaced.isFile()) throw wrongKindError('file', name, replaced)
  }

  /** The source as an earlier change of the commit has found it. A backup and a put share a source. */
  #knownSource({ change, source }: Step): Source | undefined {
    const before = this.#steps.find(
      (step) => step.sourceStats && step.change.val.area === change.val.area && step.source.path === source.path,
    )
    if (before === undefined) return undefined
    const directory = findDirectory(this.#areas[change.val.area], source.directories)
    const isUnchanged =
      directory !== undefined && isSame(lstatIfExists(join(directory, source.name)), before.sourceStats)
    if (!isUnchanged || (change.tag === 'copy' && before.sourceStats!.size > maxDocumentBytes)) return undefined
    return { version: before.sourceVersion!, stats: before.sourceStats!, contents: before.sourceContents }
  }

  /** Reads the source. Keeps its contents only if no other document is edited, to bound the memory of a commit. */
  #readSource(step: Step): Source | undefined {
    const [edit, another] = this.#steps.filter(({ change }) => change.tag === 'edit')
    const isEdited = edit?.change.val.area === step.change.val.area && edit.target.path === step.source.path
    return isEdited && another === undefined ? this.#readWhole(step) : this.#hashSource(step)
  }

  #readWhole(step: Step): Source | undefined {
    const pieces: Buffer[] = []
    const hashed = this.#hashSource(step, (piece) => pieces.push(Buffer.from(piece)))
    return hashed && { ...hashed, contents: Buffer.concat(pieces) }
  }

  /** The new contents of a document that is edited. */
  #editedContents(step: Step, { path, splices, expects }: Edit): Buffer {
    const { version, contents } = step.sourceContents
      ? { version: step.sourceVersion, contents: step.sourceContents }
      : (this.#readWhole(step) ?? {})
    // An editor may have saved the document after the check of its version.
    const after = version === expects && contents && applySplices(contents, splices)
    if (!after) throw versionMismatchError(path)
    checkLength(path, after)
    return after
  }

  /**
   * The version and stats of the source, or undefined if it does not exist. `take` is as in `hashRegular`. The source of
   * a copy or an edit may be no longer than a document.
   */
  #hashSource({ change, source }: Step, take?: (piece: Uint8Array) => void): ReturnType<typeof hashRegular> {
    const directory = findDirectory(this.#areas[change.val.area], source.directories)
    const limit = change.tag === 'copy' || change.tag === 'edit' ? maxDocumentBytes : Infinity
    return directory === undefined ? undefined : hashRegular(directory, source.name, limit, take)
  }

  /** Makes the directories of the target that are missing. Each is checked first, so no symbolic link is followed. */
  #makeDirectories(step: Step): void {
    if (step.directory !== undefined) return
    const { anchor, segments, isPrivate = false } = this.#areas[step.change.val.area]
    let directory = anchor
    for (const segment of [...segments, ...step.target.directories]) {
      const path = join(directory, segment)
      if (lstatIfExists(path) === undefined) {
        makeSubdirectory(path, isPrivate)
        this.#made.push(path)
        this.#toSync.add(directory)
      }
      directory = enterDirectory(directory, segment)!
    }
    step.directory = directory
  }

  #writeTemporary(step: Step): void {
    const { change, target, source, directory, sourceStats } = step
    if (change.tag === 'delete' || change.tag === 'rename') return
    const path = join(directory!, temporaryName(target.name))
    undefinedIfMissing(() => unlinkSync(path)) // A crash may have left it.
    if (this.#linkTemporary(step, path)) return
    const edited = change.tag === 'edit' ? this.#editedContents(step, change.val) : undefined
    // Otherwise a backup could be readable for somebody who may not read the document.
    const mode = this.#areas[change.val.area].isPrivate ? 0o600 : sourceStats && sourceStats.mode & 0o7777
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
    const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, (mode ?? 0o666) & 0o777)
    this.#temporaries.add(path)
    try {
      if (mode !== undefined) fchmodSync(descriptor, mode)
      const write = (piece: Uint8Array) => {
        for (let at = 0; at < piece.length;) at += writeSync(descriptor, piece, at)
      }
      if (change.tag === 'copy') {
        step.version = change.val.expects
        // An editor may have saved the document after the check of its version.
        if (this.#hashSource(step, write)?.version !== step.version) throw versionMismatchError(source.path)
      } else {
        const contents = change.tag === 'put' ? change.val.contents : edited!
        write(contents)
        step.version = versionOf(contents)
      }
      // Even with `relaxed`: otherwise a new document could be empty after a loss of power.
      if (this.#durability === 'full' || step.isNew) fdatasyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }

  /**
   * Makes the backup a hard link to the source, so that its contents are not written again. Only if another change of
   * the commit replaces the source: otherwise an editor that writes in place would change the backup too.
   */
  #linkTemporary(step: Step, path: string): boolean {
    const { change, source, sourceStats } = step
    if (change.tag !== 'copy') return false
    const { area, from } = change.val
    const root = this.#areas[area]
    const isReplaced = this.#steps.some(({ change, target }) => change.val.area === area && target.path === from)
    if (!isReplaced || (root.isPrivate && (sourceStats!.mode & 0o777) !== 0o600)) return false
    const directory = findDirectory(root, source.directories)
    if (directory === undefined) throw versionMismatchError(from)
    try {
      linkSync(join(directory, source.name), path)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') throw versionMismatchError(from)
      if (linkErrors.has(code)) return false
      throw error
    }
    this.#temporaries.add(path)
    step.isLinked = true
    step.version = change.val.expects
    if (!isSame(lstatIfExists(path), sourceStats)) throw versionMismatchError(from)
    return true
  }

  #apply(step: Step): void {
    const { change, target, source, directory, sourceStats, isLinked = false } = step
    if (change.tag === 'rename') return this.#rename(step)
    const path = join(directory!, target.name)
    const temporary = join(directory!, temporaryName(target.name))
    // A linked file is checked too: an editor may have written to it in place.
    const recheck = change.tag !== 'copy' ? path : isLinked ? temporary : undefined
    if (recheck !== undefined && !isSame(lstatIfExists(recheck), sourceStats)) throw versionMismatchError(source.path)
    if (change.tag === 'delete') {
      unlinkSync(path)
    } else {
      // After a crash between the two renames, document and backup are one file. `rename` between two names of one
      // file does nothing.
      if (isLinked && isSame(lstatIfExists(path), sourceStats)) unlinkSync(temporary)
      else renameSync(temporary, path)
      this.#temporaries.delete(temporary)
    }
    this.#noteApplied(directory!)
  }

  #rename(step: Step): void {
    const { change, target, source, directory, sourceStats } = step
    const before = findDirectory(this.#areas[change.val.area], source.directories)
    const from = before && join(before, source.name)
    if (from === undefined || !isSame(lstatIfExists(from), sourceStats)) throw versionMismatchError(source.path)
    const to = join(directory!, target.name)
    if (lstatIfExists(to) !== undefined) throw alreadyExistsError(target.path)
    renameSync(from, to)
    step.version = change.val.expects!
    this.#noteApplied(before!, directory!)
  }

  /** Notes that a change is applied, in these directories. */
  #noteApplied(...directories: string[]): void {
    this.applied++
    for (const directory of directories) this.#toSync.add(directory)
  }

  #syncDirectories(): void {
    if (this.#durability === 'relaxed') return
    for (const directory of this.#toSync) syncDirectory(directory)
  }
}

function documentPath(root: Root, path: string): DocumentPath {
  const segments = segmentsIn(root, path)
  return { path, directories: segments.slice(0, -1), name: segments.at(-1)! }
}

function checkLength(path: string, contents: Uint8Array): void {
  if (contents.length <= maxDocumentBytes) return
  throw new StorageError(
    'too-large',
    `\`${path}\` would be longer than ${maxDocumentBytes} bytes (it would have ${contents.length}); shorten it or split it`,
  )
}

/** Whether a file is unchanged. `ctime` is not compared, because a new hard link changes it. */
function isSame(now: Stats | undefined, before: Stats | undefined): boolean {
  return (
    now?.ino === before?.ino &&
    now?.mode === before?.mode &&
    now?.size === before?.size &&
    now?.mtimeMs === before?.mtimeMs
  )
}

function alreadyExistsError(path: string): StorageError {
  return new StorageError('already-exists', `something stands at \`${path}\`; take another path`)
}

function versionMismatchError(path: string): StorageError {
  return new StorageError('version-mismatch', `\`${path}\` is not as it was when it was read; call again`)
}

/** For the clean-up after an error, which is the error to report. The next writer removes files that stay. */
function ignoreErrors(work: () => void): void {
  try {
    work()
  } catch {}
}
