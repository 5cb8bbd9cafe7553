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
import type { Place } from '../generated/component/interfaces/agent-memory-storage-types.js'
import type { Database } from '../storage/database/database.ts'
import type { Transaction } from '../storage/database/transaction.ts'
import {
  type Areas,
  areasOf,
  type GrantedPlace,
  listDirectory,
  readDocument,
  statusAt,
  versionOf,
} from '../storage/tree.ts'
import type { CallStorage, PlaceKind } from './call.ts'

/** The import `agent-memory:storage/documents` for one call. */
export function documents(call: CallStorage): object {
  class Writer {
    readonly #areas: Areas

    constructor(areas: Areas) {
      this.#areas = areas
    }

    commit(changes: Change[]): (string | undefined)[] {
      return call.run(() => call.commit(this.#areas, changes))
    }

    [Symbol.dispose](): void {
      call.release()
    }
  }

  class Tree {
    readonly #tree: GrantedPlace
    readonly #areas: Areas

    constructor(tree: GrantedPlace) {
      this.#tree = tree
      this.#areas = areasOf(tree)
    }

    stat(area: Area, path: string): Status | undefined {
      return call.run(() => statusAt(this.#areas, area, path, this.#tree.location))
    }

    read(area: Area, path: string, maxBytes: bigint): Document | undefined {
      return call.run(() => readDocument(this.#areas, area, path, maxBytes))
    }

    list(area: Area, directory: string): Entry[] | undefined {
      return call.run(() => {
        const mayClean = () => call.mayClean(this.#tree)
        return listDirectory(this.#areas, area, directory, this.#tree.location, mayClean)
      })
    }

    location(): string {
      return call.run(() => this.#tree.location)
    }

    hasAtomicCommits(): boolean {
      return call.run(() => false)
    }

    /** Locks the whole place. The scope of the WIT is ignored. */
    lock(): Writer {
      return call.run(() => {
        call.lock(this.#tree)
        return new Writer(this.#areas)
      })
    }

    [Symbol.dispose](): void {
      call.closeTree()
    }
  }

  return {
    Tree,
    Writer,
    open: (place: Place) => call.run(() => new Tree(call.open(place))),
    listPlaces: (kind: PlaceKind) => call.run(() => call.listPlaces(kind)),
    createPlace: (place: Place) => call.run(() => new Tree(call.createPlace(place))),
    versionOf: (contents: Uint8Array) => call.run(() => versionOf(contents)),
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
