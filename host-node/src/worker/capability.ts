import type {
  Effect,
  Kind,
  Mode,
  Rows,
  Statement,
} from '../generated/component/interfaces/agent-memory-storage-database.js'
import type {
  Area,
  Change,
  Document,
  Entry,
  Status,
} from '../generated/component/interfaces/agent-memory-storage-documents.js'
import { hash } from 'node:crypto'
import type { Place } from '../generated/component/interfaces/agent-memory-storage-types.js'
import type { Database } from '../storage/database/database.ts'
import type { Transaction } from '../storage/database/transaction.ts'
import type { Tree as PlaceTree } from '../storage/places.ts'
import type { CallStorage, PlaceKind } from './call.ts'

/** The import `agent-memory:storage/documents` for one call. */
export function documents(call: CallStorage): object {
  class Writer {
    readonly #tree: PlaceTree

    constructor(tree: PlaceTree) {
      this.#tree = tree
    }

    commit(changes: Change[]): (string | undefined)[] {
      return call.run(() => call.commit(this.#tree, changes))
    }

    [Symbol.dispose](): void {
      call.release()
    }
  }

  class Tree {
    readonly #tree: PlaceTree

    constructor(tree: PlaceTree) {
      this.#tree = tree
    }

    stat(area: Area, path: string): Status | undefined {
      return call.run(() => call.use(() => this.#tree.stat(area, path)))
    }

    read(area: Area, path: string, maxBytes: bigint): Document | undefined {
      return call.run(() => call.use(() => this.#tree.read(area, path, maxBytes)))
    }

    list(area: Area, directory: string): Entry[] | undefined {
      return call.run(() => call.list(this.#tree, area, directory))
    }

    location(): string {
      return call.run(() => call.use(() => this.#tree.location()))
    }

    hasAtomicCommits(): boolean {
      return call.run(() => false)
    }

    /** Locks the whole place. The scope of the WIT is ignored. */
    lock(): Writer {
      return call.run(() => {
        call.lock(this.#tree)
        return new Writer(this.#tree)
      })
    }

    [Symbol.dispose](): void {
      call.closeTree(this.#tree)
    }
  }

  return {
    Tree,
    Writer,
    open: (place: Place) => call.run(() => new Tree(call.open(place))),
    listPlaces: (kind: PlaceKind) => call.run(() => call.listPlaces(kind)),
    createPlace: (place: Place) => call.run(() => new Tree(call.createPlace(place))),
    versionOf: (contents: Uint8Array) => call.run(() => hash('sha256', contents)),
  }
}

/** The import `agent-memory:storage/database` for one call. */
export function database(call: CallStorage): object {
  class OpenTransaction {
    readonly #transaction: Transaction

    constructor(transaction: Transaction) {
      this.#transaction = transaction
    }

    query(statement: Statement, maxRows: number): Rows {
      return call.run(() => this.#transaction.query(statement, maxRows))
    }

    execute(statements: Statement[]): Effect[] {
      return call.run(() => this.#transaction.execute(statements))
    }

    commit(): void {
      call.run(() => this.#transaction.commit())
    }

    [Symbol.dispose](): void {
      this.#transaction.end()
    }
  }

  class Connection {
    readonly #database: Database

    constructor(database: Database) {
      this.#database = database
    }

    dialect(): 'sqlite' {
      return call.run(() => 'sqlite')
    }

    query(statement: Statement, maxRows: number): Rows {
      return call.run(() => this.#database.query(statement, maxRows))
    }

    begin(mode: Mode): OpenTransaction {
      return call.run(() => new OpenTransaction(call.begin(this.#database, mode)))
    }
  }

  return {
    Connection,
    Transaction: OpenTransaction,
    open: (place: Place, name: string, kind: Kind, create: boolean) =>
      call.run(() => new Connection(call.openDatabase(place, name, kind, create))),
  }
}
