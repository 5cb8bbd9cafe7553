import type {
  Effect,
  Rows,
  Statement,
  TransactionMode,
} from '../generated/component/interfaces/agent-memory-core-database.js'
import type {
  Change,
  Document,
  Entry,
  Place,
  Side,
} from '../generated/component/interfaces/agent-memory-core-documents.js'
import type { Database } from '../storage/database/database.ts'
import type { Transaction } from '../storage/database/transaction.ts'
import { type Granted, listDirectory, readDocument, type Sides, sidesOf, versionOf } from '../storage/tree.ts'
import { type CallStorage, notGranted } from './call.ts'

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
      call.release()
    }
  }

  class Tree {
    readonly #tree: Granted
    readonly #sides: Sides

    constructor(tree: Granted) {
      this.#tree = tree
      this.#sides = sidesOf(tree)
    }

    read(side: Side, path: string, maxBytes: bigint): Document | undefined {
      return call.run(() => readDocument(this.#sides, side, path, maxBytes))
    }

    list(side: Side, directory: string): Entry[] | undefined {
      return call.run(() => listDirectory(this.#sides, side, directory, this.#tree.location))
    }

    location(): string {
      return call.run(() => this.#tree.location)
    }

    lock(): Writer {
      return call.run(() => {
        call.lock(this.#tree)
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
    open: (place: Place) => call.run(() => new Tree(call.open(place))),
    listPlaces: (kind: Place['kind']) => call.run(() => call.listPlaces(kind)),
    createPlace: ({ kind }: Place) =>
      call.run(() => {
        throw notGranted(kind)
      }),
    versionOf: (contents: Uint8Array) => call.run(() => versionOf(contents)),
  }
}

/** `agent-memory:core/database` for one call. */
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
      call.run(() => call.commitTransaction(this.#transaction))
    }

    [Symbol.dispose](): void {
      call.endTransaction(this.#transaction)
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

    begin(mode: TransactionMode): OpenTransaction {
      return call.run(() => new OpenTransaction(call.begin(this.#database, mode)))
    }
  }

  return {
    Connection,
    Transaction: OpenTransaction,
    open: (name: string, create: boolean) =>
      call.run(() => {
        const database = call.database(name)
        database.open(create)
        return new Connection(database)
      }),
  }
}
