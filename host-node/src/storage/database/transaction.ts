import type { Effect, Rows, Statement } from '../../generated/component/interfaces/agent-memory-storage-database.js'
import { StorageFailure } from '../error.ts'
import type { Link } from './connection.ts'
import { reported } from './error.ts'
import { execute, query } from './statement.ts'

/** How a transaction ends. */
interface Ending {
  commit(): void
  ended(): void
}

/** Rolled back where it ends before `commit`: also by the first statement that fails. */
export class Transaction {
  readonly mode: 'read' | 'write'
  readonly #link: Link
  readonly #location: string
  readonly #ending: Ending
  #state: 'open' | 'committed' | 'rolled back' = 'open'
  #lastInsertId = 0n

  constructor(link: Link, mode: 'read' | 'write', location: string, ending: Ending) {
    this.#link = link
    this.mode = mode
    this.#location = location
    this.#ending = ending
  }

  /** Runs one statement and gives at most `maxRows` of its rows. In a write transaction it may also change some. */
  query(statement: Statement, maxRows: number): Rows {
    return this.#within(() => query(this.#link, statement, maxRows, this.mode))
  }

  /** Runs statements in order and stops at the first that fails. */
  execute(statements: readonly Statement[]): Effect[] {
    return this.#within(() => {
      return statements.map((statement) => {
        const effect = execute(this.#link, statement, this.mode, this.#lastInsertId)
        this.#lastInsertId = effect.lastInsertId
        return effect
      })
    })
  }

  /** Makes it durable. An error has rolled it back. */
  commit(): void {
    this.#check()
    try {
      if (this.mode === 'write' && !this.#link.isInPlace()) {
        const message = `\`${this.#location}\` was moved away while it was open: try again`
        throw new StorageFailure('io', message)
      }
      this.#ending.commit()
      this.#state = 'committed'
      this.#ending.ended()
    } finally {
      this.end()
    }
  }

  /** Rolls it back, unless it has ended. */
  end(): void {
    if (this.#state !== 'open') return
    this.#state = 'rolled back'
    this.#ending.ended()
  }

  #within<T>(work: () => T): T {
    this.#check()
    try {
      return work()
    } catch (error) {
      this.end()
      throw reported(error, this.#location)
    }
  }

  #check(): void {
    if (this.#state === 'committed') throw new StorageFailure('nested', 'the transaction is committed already')
    if (this.#state === 'open') return
    const message = `the transaction on \`${this.#location}\` was rolled back after an error: begin again`
    throw new StorageFailure('io', message)
  }
}
