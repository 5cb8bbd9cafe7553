import type { Effect, Rows, Statement } from '../../generated/component/interfaces/agent-memory-storage-database.js'
import { StorageError } from '../error.ts'
import type { Connection } from './connection.ts'
import { databaseError } from './error.ts'
import { execute, query } from './statement.ts'

/** The functions of the database that a transaction calls. */
interface TransactionCallbacks {
  commit(): void
  /** Rolls back unless the transaction is committed, and releases the locks. */
  onEnd(): void
}

/** A transaction. It is rolled back if it ends without a commit, or when a statement fails. */
export class Transaction {
  readonly mode: 'read' | 'write'
  readonly #connection: Connection
  readonly #location: string
  readonly #callbacks: TransactionCallbacks
  #state: 'open' | 'committed' | 'rolled back' = 'open'

  constructor(connection: Connection, mode: 'read' | 'write', location: string, callbacks: TransactionCallbacks) {
    this.#connection = connection
    this.mode = mode
    this.#location = location
    this.#callbacks = callbacks
  }

  /** Runs one statement, and returns at most `maxRows` of its rows. In a write transaction it may also change rows. */
  query(statement: Statement, maxRows: number): Rows {
    return this.#within(() => query(this.#connection, statement, maxRows, this.mode))
  }

  /** Runs statements in order. If one fails, the transaction is rolled back. */
  execute(statements: readonly Statement[]): Effect[] {
    return this.#within(() => statements.map((statement) => execute(this.#connection, statement, this.mode)))
  }

  /** Commits the transaction. If that fails, the transaction is rolled back. */
  commit(): void {
    this.#check()
    try {
      if (this.mode === 'write' && !this.#connection.isInPlace()) {
        const message = `\`${this.#location}\` was moved away while it was open: try again`
        throw new StorageError('io', message)
      }
      this.#callbacks.commit()
      this.#state = 'committed'
      this.#callbacks.onEnd()
    } finally {
      this.end()
    }
  }

  /** Rolls back, unless the transaction has ended. */
  end(): void {
    if (this.#state !== 'open') return
    this.#state = 'rolled back'
    this.#callbacks.onEnd()
  }

  #within<T>(work: () => T): T {
    this.#check()
    try {
      return work()
    } catch (error) {
      this.end()
      throw databaseError(error, this.#location)
    }
  }

  #check(): void {
    if (this.#state === 'committed') throw new StorageError('nested', 'the transaction is committed already')
    if (this.#state === 'open') return
    const message = `the transaction on \`${this.#location}\` was rolled back after an error: begin again`
    throw new StorageError('io', message)
  }
}
