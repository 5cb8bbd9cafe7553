import type * as Toolbox from '../generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import type { CallStorage } from './call.ts'
import { database, documents } from './capability.ts'
import type { Instantiate } from './toolbox.ts'
import { inertWasi } from '../wasi.ts'

/** An instance may keep at most this part of the limit of linear memory for the next call. */
const keptPart = 1 / 32

/**
 * An instance of the memory component. A call that ends well leaves it for the next one, set back to its beginning: to
 * make a new one takes longer than most calls.
 *
 * Its linear memory is its whole state then. `scripts/transpile.ts` checks that it has no other, except for the stack
 * pointer, which is where it was after every return.
 */
export class ComponentInstance {
  readonly toolbox: typeof Toolbox
  /** The text that the call has written to standard error, such as the message of a panic. */
  readonly stderr: () => string
  readonly #of: { call: CallStorage }
  readonly #memoryLimit: number
  #memory: WebAssembly.Memory | undefined
  readonly #beginning: Uint8Array | undefined

  constructor(
    instantiate: Instantiate,
    modules: Readonly<Record<string, WebAssembly.Module>>,
    memoryLimit: number,
    call: CallStorage,
  ) {
    const wasi = inertWasi()
    this.stderr = wasi.stderr
    this.#of = { call }
    this.#memoryLimit = memoryLimit
    const imports = {
      'agent-memory:storage/documents': documents(this.#of),
      'agent-memory:storage/database': database(this.#of),
      ...wasi.imports,
    }
    this.toolbox = instantiate(
      (name) => modules[name]!,
      imports,
      (module, imports) => {
        const instance = new WebAssembly.Instance(module, imports)
        const { memory } = instance.exports
        if (memory instanceof WebAssembly.Memory) this.#memory = memory
        return instance
      },
    ).toolbox
    this.#beginning = this.#memory && new Uint8Array(this.#memory.buffer).slice()
  }

  /** Gives the instance to another call. */
  lendTo(call: CallStorage): this {
    this.#of.call = call
    return this
  }

  /** Sets it back after a call that returned. Undefined if the call has left something open, or took much memory. */
  setBack(): this | undefined {
    const beginning = this.#beginning
    if (beginning === undefined || this.#of.call.hasOpen || this.stderr() !== '') return undefined
    const memory = new Uint8Array(this.#memory!.buffer)
    if (memory.length - beginning.length > this.#memoryLimit * keptPart) return undefined
    memory.set(beginning)
    memory.fill(0, beginning.length)
    return this
  }
}
