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

/** The import `agent-memory:storage/documents`. It works on the current call of `of`. */
export function documents(of: { readonly call: CallStorage }): object {
  class Writer {
    readonly #tree: PlaceTree

    constructor(tree: PlaceTree) {
      this.#tree = tree
      of.call.resources++
    }

    commit(changes: Change[]): (string | undefined)[] {
      return of.call.run(() => of.call.commit(this.#tree, changes))
    }

    [Symbol.dispose](): void {
      of.call.resources--
      of.call.release()
    }
  }

  class Tree {
    readonly #tree: PlaceTree

    constructor(tree: PlaceTree) {
      this.#tree = tree
      of.call.resources++
    }

    stat(area: Area, path: string): Status | undefined {
      return of.call.run(() => of.call.use(() => this.#tree.stat(area, path)))
    }

    read(area: Area, path: string, maxBytes: bigint): Document | undefined {
      return of.call.run(() => of.call.use(() => this.#tree.read(area, path, maxBytes)))
    }

    list(area: Area, directory: string): Entry[] | undefined {
      return of.call.run(() => of.call.list(this.#tree, area, directory))
    }

    location(): string {
      return of.call.run(() => of.call.use(() => this.#tree.location()))
    }

    hasAtomicCommits(): boolean {
      return of.call.run(() => false)
    }

    /** Locks the whole place. The scope of the WIT is ignored. */
    lock(): Writer {
      return of.call.run(() => {
        of.call.lock(this.#tree)
        return new Writer(this.#tree)
      })
    }

    [Symbol.dispose](): void {
      of.call.resources--
      of.call.closeTree(this.#tree)
    }
  }

  return {
    Tree,
    Writer,
    open: (place: Place) => of.call.run(() => new Tree(of.call.open(place))),
    listPlaces: (kind: PlaceKind) => of.call.run(() => of.call.listPlaces(kind)),
    createPlace: (place: Place) => of.call.run(() => new Tree(of.call.createPlace(place))),
    versionOf: (contents: Uint8Array) => of.call.run(() => hash('sha256', contents)),
  }
}

/** The import `agent-memory:storage/database`. It works on the current call of `of`. */
export function database(of: { readonly call: CallStorage }): object {
  class OpenTransaction {
    readonly #transaction: Transaction

    constructor(transaction: Transaction) {
      this.#transaction = transaction
      of.call.resources++
    }

    query(statement: Statement, maxRows: number): Rows {
      return of.call.run(() => this.#transaction.query(statement, maxRows))
    }

    execute(statements: Statement[]): Effect[] {
      return of.call.run(() => this.#transaction.execute(statements))
    }

    commit(): void {
      of.call.run(() => this.#transaction.commit())
    }

    [Symbol.dispose](): void {
      of.call.resources--
      this.#transaction.end()
    }
  }

  class Connection {
    readonly #database: Database

    constructor(database: Database) {
      this.#database = database
      of.call.resources++
    }

    dialect(): 'sqlite' {
      return of.call.run(() => 'sqlite')
    }

    query(statement: Statement, maxRows: number): Rows {
      return of.call.run(() => this.#database.query(statement, maxRows))
    }

    begin(mode: Mode): OpenTransaction {
      return of.call.run(() => new OpenTransaction(of.call.begin(this.#database, mode)))
    }

    [Symbol.dispose](): void {
      of.call.resources--
    }
  }

  return {
    Connection,
    Transaction: OpenTransaction,
    open: (place: Place, name: string, kind: Kind, create: boolean) =>
      of.call.run(() => new Connection(of.call.openDatabase(place, name, kind, create))),
  }
}
