import type * as Exports from '../generated/files/interfaces/agent-memory-places-places.js'
import type { Tree } from '../generated/files/interfaces/agent-memory-places-places.js'
import { inertWasi } from '../wasi.ts'
import { StorageError } from './error.ts'
import { fileSystem } from './file-system.ts'

export type { DatabaseFile, Tree, Wanted } from '../generated/files/interfaces/agent-memory-places-places.js'

/** The functions of the component of files: `wit/places`. They throw errors as plain objects. */
export type PlacesExports = typeof Exports

/** The function that jco generates to instantiate the component of files. */
export type InstantiatePlaces = (
  getCoreModule: (name: string) => WebAssembly.Module,
  imports: object,
  instantiateCore: (module: WebAssembly.Module, imports: WebAssembly.Imports) => WebAssembly.Instance,
) => { places: PlacesExports }

/** The functions that the component of files needs from its host, beside the file system. */
export interface PlacesHost {
  /** Whether the call holds the lock of its place, or of a registry. */
  isHeld(): boolean
  /** The functions of the memory component. They throw an error with a message for a person. */
  parseRegistry(text: string): string
  editRegistry(text: string, change: string): string
}

/** The maximum linear memory, in bytes, with which an instance is kept for the next call. */
const maxKeptMemory = 64 * 1024 * 1024

/**
 * The places of a thread: an instance of the component of files, which all calls share. It is the
 * host's own code, and keeps no state of a call. After a trap, and after a call that took much memory,
 * the next call gets a new instance.
 */
export class Places {
  readonly #instantiate: (imports: object, onMemory: (memory: WebAssembly.Memory) => void) => PlacesExports
  readonly #host: PlacesHost
  readonly #grants: { readonly text: string; readonly isDurable: boolean } | undefined
  #instance: { readonly places: PlacesExports; readonly close: () => void; memory?: WebAssembly.Memory } | undefined

  /** `grants` are the grants of another instance, from its `grants` function. Without them, nothing is granted. */
  constructor(
    instantiate: InstantiatePlaces,
    modules: Readonly<Record<string, WebAssembly.Module>>,
    host: PlacesHost,
    grants?: { text: string; isDurable: boolean },
  ) {
    this.#instantiate = (imports, onMemory) =>
      instantiate(
        (name) => modules[name]!,
        imports,
        (module, imports) => {
          const instance = new WebAssembly.Instance(module, imports)
          const { memory } = instance.exports
          if (memory instanceof WebAssembly.Memory) onMemory(memory)
          return instance
        },
      ).places
    this.#host = host
    this.#grants = grants
  }

  /** Runs `work` with the component's functions. Throws only storage errors. */
  run<T>(work: (places: PlacesExports) => T): T {
    const instance = (this.#instance ??= this.#start())
    return this.use(() => work(instance.places))
  }

  /** Runs `work`, which uses a tree. Throws only storage errors. */
  use<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (isRecord(error)) throw error
      this.#discard()
      throw StorageError.from(error, 'use the storage')
    }
  }

  /** Ends a call, whose trees are closed: drops an instance that has taken much memory. */
  endCall(): void {
    if ((this.#instance?.memory?.buffer.byteLength ?? 0) > maxKeptMemory) this.#discard()
  }

  #start() {
    const files = fileSystem()
    const instance: { places?: PlacesExports; close: () => void; memory?: WebAssembly.Memory } = { close: files.close }
    const places = this.#instantiate(
      {
        'agent-memory:file-system/file-system': files.imports,
        'agent-memory:places/lock': { isHeld: () => isHeld(this.#host) },
        'agent-memory:places/registry-format': {
          parse: (text: string) => told(() => this.#host.parseRegistry(text)),
          edit: (text: string, change: string) => told(() => this.#host.editRegistry(text, change)),
          warn: (registry: string, warning: string) => console.warn(`agent-memory: ${registry}: ${warning}`),
        },
        ...inertWasi().imports,
      },
      (memory) => (instance.memory = memory),
    )
    if (this.#grants) places.restore(this.#grants.text, this.#grants.isDurable)
    return Object.assign(instance, { places })
  }

  #discard(): void {
    this.#instance?.close()
    this.#instance = undefined
  }
}

/**
 * Closes a tree. Ignores the error for a tree whose instance has trapped: the tree was closed with the
 * instance.
 */
export function closeTree(tree: Tree): void {
  try {
    ;(tree as Tree & Disposable)[Symbol.dispose]()
  } catch {}
}

/** Whether an error is a storage error or an error of a commit, which jco throws as a plain object. */
export function isRecord(error: unknown): error is object {
  return error instanceof StorageError || (typeof error === 'object' && error !== null && !(error instanceof Error))
}

/**
 * Whether the call holds its lock. False if that cannot be checked: the component then ends its commit and cleans up.
 */
function isHeld(host: PlacesHost): boolean {
  try {
    return host.isHeld()
  } catch {
    return false
  }
}

function told(work: () => string) {
  try {
    return { tag: 'ok', val: work() }
  } catch (error) {
    return { tag: 'err', val: (error as Error).message }
  }
}
