import { join } from 'node:path'
import { type Control, Turn } from '../control.ts'
import type { TransactionMode } from '../generated/component/interfaces/agent-memory-core-database.js'
import type { Change, Place } from '../generated/component/interfaces/agent-memory-core-documents.js'
import type { Report, WorkerSettings } from '../messages.ts'
import { commit } from '../storage/commit.ts'
import type { Database } from '../storage/database/database.ts'
import { nested } from '../storage/database/failure.ts'
import type { Transaction } from '../storage/database/transaction.ts'
import { CommitFailure, StorageFailure } from '../storage/failure.ts'
import { busy, Lock } from '../storage/lock.ts'
import { recordsTree } from '../storage/records.ts'
import { findRepository, listRepositories } from '../storage/repository.ts'
import type { Granted, Sides } from '../storage/tree.ts'
import type { Root } from '../storage/walk.ts'
import { monotonic } from '../time.ts'

/** Thrown through the guest to end a run with this report. It is an `Error`, which jco passes on. */
export class EndOfRun extends Error {
  readonly report: Report

  constructor(report: Report) {
    super(report.kind)
    this.report = report
  }
}

/** The storage that one call sees, and all that it has opened. */
export class CallStorage {
  readonly #settings: WorkerSettings
  readonly #control: Control
  readonly #say: (report: Report) => void
  readonly #database: Database | undefined
  #since: number | undefined
  #lock: Lock | undefined
  #transacts = false
  #hasCommittedTransaction = false
  /** Whether it may have changed anything, so that it cannot be run again. */
  #hasCommitted = false
  /** The locks that it has had its turn for. */
  readonly #turns = new Set<string>()
  #calls = 0
  #trees = 0

  /**
   * `database`: that of the records, where they are granted. `since`: when the call first asked for a lock, if an
   * earlier run of it has.
   */
  constructor(
    settings: WorkerSettings,
    control: Control,
    say: (report: Report) => void,
    database: Database | undefined,
    since: number | undefined,
  ) {
    this.#settings = settings
    this.#control = control
    this.#say = say
    this.#database = database
    this.#since = since
  }

  /** The seam: the guest's clock stands still, and only plain records are thrown back into it. */
  run<T>(work: () => T): T {
    this.#control.leaveGuest()
    try {
      this.#count()
      return work()
    } catch (error) {
      if (error instanceof EndOfRun) throw error
      throw error instanceof CommitFailure ? error.record() : StorageFailure.from(error, 'use the storage').record()
    } finally {
      this.#control.enterGuest()
    }
  }

  open({ kind, name }: Place): Granted {
    const tree = this.#find(kind, name)
    if (++this.#trees > mostTrees) throw ended('trap', `it has more than ${mostTrees} trees open`)
    return tree
  }

  listPlaces(kind: Place['kind']): string[] {
    if (kind === 'repository') return listRepositories(this.#settings.grants)
    if (kind === 'records' && this.#settings.records) return ['']
    throw notGranted(kind)
  }

  closeTree(): void {
    this.#trees--
  }

  lock(tree: Granted): void {
    if (this.#lock) throw new StorageFailure('nested', 'the call holds a writer already: a call takes at most one')
    if (this.#transacts || this.#hasCommittedTransaction) {
      throw new StorageFailure('nested', 'the call has a transaction, or has committed one: it takes its writer before')
    }
    const { patience, durability } = this.#settings
    const since = this.#takeTurn(tree.lock)
    this.#lock = Lock.acquire(tree.lock, patience, since, () => this.#say({ kind: 'waits' }), durability)
  }

  commit(sides: Sides, changes: Change[]): string[] {
    this.#hasCommitted = true
    return commit(sides, changes, this.#settings.durability, () => this.#lock!.check())
  }

  release(): void {
    this.#lock?.release()
    this.#lock = undefined
  }

  database(name: string): Database {
    if (name !== 'records') {
      throw new StorageFailure(
        'not-granted',
        `the database \`${name}\` is not granted: this host keeps no such database`,
      )
    }
    if (!this.#database) throw notGranted('records')
    return this.#database
  }

  begin(database: Database, mode: TransactionMode): Transaction {
    if (this.#transacts) throw nested()
    const transaction = mode === 'read' ? database.beginRead() : this.#beginWrite(database)
    this.#transacts = true
    return transaction
  }

  commitTransaction(transaction: Transaction): void {
    this.#hasCommittedTransaction = true
    if (transaction.mode === 'write') this.#hasCommitted = true
    transaction.commit()
  }

  endTransaction(transaction: Transaction): void {
    transaction.end()
    this.#transacts = false
  }

  /** Closes whatever the call has open, however it ended. */
  close(): void {
    try {
      this.#database?.endCall()
    } finally {
      this.release()
    }
  }

  #beginWrite(database: Database): Transaction {
    database.checkWritable()
    return database.beginWrite(this.#takeTurn(database.lock, database.treeLock))
  }

  /** Waits for its turn among the calls of this process, and says since when it has waited. */
  #takeTurn(root: Root, before?: Root): number {
    const [lock, after] = [pathOf(root), before && pathOf(before)]
    const since = this.#since ?? monotonic()
    this.#since = undefined
    if (this.#turns.has(lock)) return since
    const turn = this.#control.ask(() => this.#say({ kind: 'asks', lock, holds: [...this.#turns], after }))
    if (turn === Turn.later && !this.#hasCommitted) throw new EndOfRun({ kind: 'deferred' })
    if (turn === Turn.never) throw busy(since)
    this.#turns.add(lock)
    return since
  }

  #find(kind: Place['kind'], name: string): Granted {
    if (kind === 'repository') return findRepository(name, this.#settings.grants)
    if (kind !== 'records' || !this.#settings.records) throw notGranted(kind)
    if (name !== '') {
      throw new StorageFailure('invalid-path', 'the directory of records has no name: leave it empty')
    }
    return recordsTree(this.#settings.records)
  }

  #count(): void {
    const { storageCalls } = this.#settings
    if (++this.#calls > storageCalls) throw ended('storage-calls', `it asked storage more than ${storageCalls} times`)
  }
}

const mostTrees = 1000

function pathOf({ anchor, segments }: Root): string {
  return join(anchor, ...segments)
}

function ended(reason: 'storage-calls' | 'trap', message: string): EndOfRun {
  return new EndOfRun({ kind: 'ended', reason, message })
}

const notKept: Record<Place['kind'], string> = {
  repository: 'a repository is not created here: create it with Git',
  records:
    'this host has no directory for records: set one (`memoryDir`), or mount the toolset `records`, which has one below `HOME`, an absolute path',
  store: 'this host keeps no stores',
  data: 'this host has no data directory',
}

export function notGranted(kind: Place['kind']): StorageFailure {
  return new StorageFailure('not-granted', notKept[kind])
}
