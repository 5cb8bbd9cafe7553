import { join } from 'node:path'
import { type Control, Turn } from '../control.ts'
import type {
  Change,
  Document,
  Entry,
  Place,
  Side,
} from '../generated/component/interfaces/agent-memory-core-documents.js'
import type { Report, WorkerSettings } from '../messages.ts'
import { commit } from '../storage/commit.ts'
import { CommitFailure, StorageFailure } from '../storage/failure.ts'
import { busy, Lock } from '../storage/lock.ts'
import { findRepository, listRepositories, type Repository } from '../storage/repository.ts'
import { listDirectory, readDocument, type Sides, sidesOf, versionOf } from '../storage/tree.ts'
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
  readonly settings: WorkerSettings
  readonly #control: Control
  readonly #say: (report: Report) => void
  readonly #since: number | undefined
  #lock: Lock | undefined
  #calls = 0
  #trees = 0

  /** `since`: when the call first asked for a lock, if an earlier run of it has. */
  constructor(settings: WorkerSettings, control: Control, say: (report: Report) => void, since: number | undefined) {
    this.settings = settings
    this.#control = control
    this.#say = say
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

  open(name: string): Repository {
    const repository = findRepository(name, this.settings.grants)
    if (++this.#trees > mostTrees) throw ended('trap', `it has more than ${mostTrees} trees open`)
    return repository
  }

  closeTree(): void {
    this.#trees--
  }

  lock(repository: Repository): void {
    if (this.#lock) throw new StorageFailure('nested', 'the call holds a writer already; a call takes at most one')
    const since = this.#since ?? monotonic()
    const tree = join(repository.lock.anchor, ...repository.lock.segments)
    const turn = this.#control.ask(() => this.#say({ kind: 'asks', tree }))
    if (turn === Turn.later) throw new EndOfRun({ kind: 'deferred' })
    if (turn === Turn.never) throw busy(since)
    this.#lock = Lock.acquire(repository.lock, this.settings.patience, since, () => this.#say({ kind: 'waits' }))
  }

  commit(sides: Sides, changes: Change[]): string[] {
    return commit(sides, changes, this.settings.durability, () => this.#lock!.check())
  }

  /** Closes whatever the call has open, however it ended. */
  close(): void {
    this.#lock?.release()
    this.#lock = undefined
  }

  #count(): void {
    const { storageCalls } = this.settings
    if (++this.#calls > storageCalls) throw ended('storage-calls', `it asked storage more than ${storageCalls} times`)
  }
}

const mostTrees = 1000

function ended(reason: 'storage-calls' | 'trap', message: string): EndOfRun {
  return new EndOfRun({ kind: 'ended', reason, message })
}

/** `agent-memory:core/documents` for one call. */
export function documents(call: CallStorage): object {
  class Writer {
    readonly #sides: Sides

    constructor(sides: Sides) {
      this.#sides = sides
    }

    commit(changes: Change[]): string[] {
      return call.run(() => call.commit(this.#sides, changes))
    }

    [Symbol.dispose](): void {
      call.close()
    }
  }

  class Tree {
    readonly #repository: Repository
    readonly #sides: Sides

    constructor(repository: Repository) {
      this.#repository = repository
      this.#sides = sidesOf(repository)
    }

    read(side: Side, path: string, maxBytes: bigint): Document | undefined {
      return call.run(() => readDocument(this.#sides, side, path, maxBytes))
    }

    list(side: Side, directory: string): Entry[] | undefined {
      return call.run(() => listDirectory(this.#sides, side, directory))
    }

    location(): string {
      return call.run(() =>
        [this.#repository.name.replace(/\/+$/, ''), ...this.#repository.documents.segments].join('/'),
      )
    }

    lock(): Writer {
      return call.run(() => {
        call.lock(this.#repository)
        return new Writer(this.#sides)
      })
    }

    [Symbol.dispose](): void {
      call.closeTree()
    }
  }

  return {
    Tree,
    Writer,
    open: ({ kind, name }: Place) =>
      call.run(() => {
        if (kind !== 'repository') throw notGranted(kind)
        return new Tree(call.open(name))
      }),
    listPlaces: (kind: Place['kind']) =>
      call.run(() => {
        if (kind !== 'repository') throw notGranted(kind)
        return listRepositories(call.settings.grants)
      }),
    createPlace: ({ kind }: Place) =>
      call.run(() => {
        throw notGranted(kind)
      }),
    versionOf: (contents: Uint8Array) => call.run(() => versionOf(contents)),
  }
}

/** `agent-memory:core/database`: this host grants no database. */
export function database(call: CallStorage): object {
  return {
    Connection: class {},
    Transaction: class {},
    open: (name: string) =>
      call.run(() => {
        throw new StorageFailure('not-granted', `the database \`${name}\` is not granted; this host grants none`)
      }),
  }
}

function notGranted(kind: string): StorageFailure {
  return new StorageFailure(
    'not-granted',
    `no place of the kind \`${kind}\` is granted; this host grants repositories alone`,
  )
}
