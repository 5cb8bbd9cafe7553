import type * as Toolbox from '../generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import type { CallStorage } from './call.ts'
import { database, documents } from './capability.ts'
import type { Instantiate } from './toolbox.ts'
import { inertWasi } from '../wasi.ts'

/** An instance is reused only if its linear memory has grown by at most this part of the limit. */
const keptPart = 1 / 32

/**
 * An instance of the memory component. After a call that ended well, the instance is reset to its initial state and
 * serves the next call: making a new instance takes longer than most calls.
 *
 * Between calls, its linear memory is its whole state. `scripts/transpile.ts` checks that it has no other state but the
 * stack pointer, which has its initial value again after each return.
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

  /**
   * Resets the instance after a call that returned. Undefined if it must not be reused: the call has left a resource
   * open, has written to standard error, or took much memory.
   */
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
