import { type SharedState, LockReply } from '../shared-state.ts'
import type { Kind, Mode } from '../generated/component/interfaces/agent-memory-storage-database.js'
import type { Area, Change, Entry } from '../generated/component/interfaces/agent-memory-storage-documents.js'
import type { Place } from '../generated/component/interfaces/agent-memory-storage-types.js'
import type { MemorySettings, Report, Request } from '../messages.ts'
import type { Database, Databases } from '../storage/database/database.ts'
import { nestedError } from '../storage/database/error.ts'
import { databaseFile } from '../storage/database/file.ts'
import type { Transaction } from '../storage/database/transaction.ts'
import { StorageError } from '../storage/error.ts'
import { busyError, Lock, type Lockable } from '../storage/lock.ts'
import { closeTree, isRecord, type Places, type PlacesExports, type Tree } from '../storage/places.ts'
import { monotonic } from '../time.ts'
import { PlaceLock } from './place-lock.ts'

/** Thrown through the guest to end a run with this report. jco passes an `Error` through to the host. */
export class EndOfRun extends Error {
  readonly report: Report

  constructor(report: Report) {
    super(report.kind)
    this.report = report
  }
}

/** A `place-kind` of wit/storage. jco generates no type for it, because the component does not use it. */
export type PlaceKind = { tag: 'repository' } | { tag: 'named'; val: string }

/** The maximum numbers of trees and of databases that a call may have open. */
const maxOpenTrees = 1000
const maxOpenDatabases = 100

/** The storage as one call uses it. Keeps track of everything that the call has open. */
export class CallStorage {
  readonly #settings: MemorySettings
  readonly #sharedState: SharedState
  readonly #send: (report: Report) => void
  readonly #databases: Databases
  readonly #places: Places
  readonly #lock = new PlaceLock((place, path) => this.#acquire(place, path))
  /** The lock of a registry, while the call changes it. */
  #registryLock: Lock | undefined
  #waitingSince: number | undefined
  /** The path of the first lock that the main thread has allowed the call to acquire. */
  #allowedLock: string | undefined
  readonly #mayLock: boolean
  #hasWriter = false
  #transaction: { readonly takesLock: boolean } | undefined
  #calls = 0
  readonly #trees = new Set<Tree>()
  /** The number of resources of storage that the component has open. */
  resources = 0

  constructor(
    settings: MemorySettings,
    sharedState: SharedState,
    send: (report: Report) => void,
    databases: Databases,
    { waitingSince, mayLock }: Pick<Request, 'waitingSince' | 'mayLock'>,
    places: Places,
  ) {
    this.#settings = settings
    this.#sharedState = sharedState
    this.#send = send
    this.#databases = databases
    this.#waitingSince = waitingSince
    this.#mayLock = mayLock
    this.#places = places
  }

  /** Runs the host's part of an import, whose time does not count as the guest's. Errors become plain objects. */
  run<T>(work: () => T): T {
    this.#sharedState.leaveGuest()
    try {
      this.#countCall()
      return work()
    } catch (error) {
      if (error instanceof EndOfRun) throw error
      if (isRecord(error) && !(error instanceof StorageError)) throw error
      throw StorageError.from(error, 'use the storage').record()
    } finally {
      this.#sharedState.enterGuest()
    }
  }

  open(place: Place): Tree {
    const tree = this.#keep((places) => places.open(place))
    if (this.#trees.size > maxOpenTrees) throw callEnded('trap', `it has more than ${maxOpenTrees} trees open`)
    return tree
  }

  closeTree(tree: Tree): void {
    if (this.#trees.delete(tree)) closeTree(tree)
  }

  listPlaces(kind: PlaceKind): string[] {
    return this.#places.run((places) => (kind.tag === 'repository' ? places.repositories() : places.names(kind.val)))
  }

  /**
   * Creates a place of a family. First waits until the call is next for the lock of the new place: a
   * call can be ended and run again only before its first change.
   */
  createPlace(place: Place): Tree {
    if (place.tag === 'repository') {
      throw new StorageError('not-granted', 'a repository is not created here: create it with Git')
    }
    const { label, name } = place.val
    const registry = this.#keep((places) => places.registry(label))
    if (this.#hasWriter || this.#transaction?.takesLock) {
      throw new StorageError('nested', 'the call holds the lock of a place: create a place before it')
    }
    const since = this.#awaitTurn(this.#places.run((places) => places.newLockPath(label, name)))
    this.#registryLock = this.#take(registry, since)
    try {
      this.#places.run((places) => places.create(label, name))
    } finally {
      this.#registryLock.release()
      this.#registryLock = undefined
    }
    return this.open(place)
  }

  lock(tree: Tree): void {
    if (this.#hasWriter) throw new StorageError('nested', 'the call holds a writer already: a call takes one at a time')
    if (this.#transaction?.takesLock) {
      throw new StorageError('nested', 'the call has a write transaction: it takes its writer before')
    }
    this.#lock.take(tree)
    this.#hasWriter = true
  }

  /** Runs work that uses a tree of the call. */
  use<T>(work: () => T): T {
    return this.#places.use(work)
  }

  /** Commits changes. Throws errors in the form of the WIT's `commit-error`. */
  commit(tree: Tree, changes: Change[]): (string | undefined)[] {
    try {
      return this.use(() => tree.commit(changes))
    } catch (error) {
      if (error instanceof StorageError) throw { error: error.record(), change: undefined, applied: 0 }
      throw error
    }
  }

  list(tree: Tree, area: Area, directory: string): Entry[] | undefined {
    return this.use(() => tree.list(area, directory, this.#hasWriter && this.#lock.isOf(tree)))
  }

  /** Whether the component has left a resource open. */
  get hasOpen(): boolean {
    return this.resources > 0
  }

  /** Whether the call still holds the lock that it has taken, of a registry or of its place. */
  get isHeld(): boolean {
    return this.#registryLock?.isHeld ?? this.#lock.isHeld
  }

  release(): void {
    this.#hasWriter = false
    this.#lock.release()
  }

  openDatabase(place: Place, name: string, kind: Kind, create: boolean): Database {
    const tree = this.#keep((places) => places.open(place))
    const database = this.#databases.get(this.use(() => databaseFile(tree, name, kind)))
    if (this.#databases.inUse > maxOpenDatabases)
      throw callEnded('trap', `it has more than ${maxOpenDatabases} databases open`)
    this.use(() => database.open(create))
    return database
  }

  begin(database: Database, mode: Mode): Transaction {
    if (this.#transaction) throw nestedError()
    const { lock } = database.file
    const takesLock = mode.tag === 'write' && lock !== undefined
    const transaction = takesLock
      ? this.#beginUnderLock(database, lock)
      : database.begin(mode.tag, this.#onTransactionEnd)
    this.#transaction = { takesLock }
    return transaction
  }

  /** Closes everything that the call has open, however it ended. */
  close(): void {
    try {
      this.#databases.endCall()
    } finally {
      this.#lock.close()
      for (const tree of this.#trees) closeTree(tree)
      this.#places.endCall()
    }
  }

  readonly #onTransactionEnd = () => {
    this.#transaction = undefined
  }

  #beginUnderLock(database: Database, place: Lockable): Transaction {
    database.checkWritable()
    const since = this.#waitingSince ?? monotonic()
    const { lock, isNew } = this.#lock.take(place)
    try {
      const onEnd = () => {
        this.#onTransactionEnd()
        this.#lock.release()
      }
      return database.begin('write', onEnd, isNew ? { since, until: lock.atHeadUntil } : undefined)
    } catch (error) {
      this.#lock.release()
      throw error
    }
  }

  /** Waits for the earlier calls of this process, and then for other processes. */
  #acquire(place: Lockable, path: string): Lock {
    return this.#take(place, this.#awaitTurn(path), path)
  }

  /** Before the first lock of a call, waits for the earlier calls of this process. Returns when the wait began. */
  #awaitTurn(path: string): number {
    const since = this.#waitingSince ?? monotonic()
    this.#waitingSince = undefined
    // For a second lock, the call may have changed a place already, so it cannot be run again. It waits for the lock
    // itself, like a writer of another process.
    if (this.#allowedLock !== undefined && this.#allowedLock !== path) return since
    if (this.#mayLock) {
      this.#send({ kind: 'takes-lock', lock: path })
    } else if (this.#allowedLock === undefined) {
      const reply = this.#sharedState.waitForReply(() => this.#send({ kind: 'wants-lock', lock: path }))
      // The run has changed nothing yet, since changes need the lock. So it can be run again.
      if (reply === LockReply.retry) throw new EndOfRun({ kind: 'retry' })
      if (reply === LockReply.timeout) throw busyError(since)
    }
    this.#allowedLock = path
    return since
  }

  #take(place: Lockable, since: number, path?: string): Lock {
    const onWait = () => this.#send({ kind: 'waits-for-lock' })
    return this.use(() => Lock.acquire(place, this.#settings.lockTimeout, since, onWait, path))
  }

  /** Opens a tree, which is closed at the end of the call at the latest. */
  #keep(open: (places: PlacesExports) => Tree): Tree {
    const tree = this.#places.run(open)
    this.#trees.add(tree)
    return tree
  }

  #countCall(): void {
    const { storageCalls } = this.#settings
    if (++this.#calls > storageCalls)
      throw callEnded('storage-calls', `it asked storage more than ${storageCalls} times`)
  }
}

function callEnded(reason: 'storage-calls' | 'trap', message: string): EndOfRun {
  return new EndOfRun({ kind: 'ended', reason, message })
}
