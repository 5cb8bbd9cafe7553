import { promisify } from 'node:util'
// Imports the default export. In an older Node, an import of `zstdDecompress` itself would fail before
// the check in `node-version.ts`.
import zlib from 'node:zlib'
import { limitLinearMemory } from './linear-memory.ts'

/** The compiled core modules of a component, by the names that jco gave them. */
export type Modules = Readonly<Record<string, WebAssembly.Module>>

/** Core modules by name, compressed with Zstandard and in base64: as text, so that every bundler includes them. */
export type EmbeddedModules = Readonly<Record<string, string>>

/** The number of cached compilations of a component. Each is for another limit of linear memory. */
const maxCached = 4

/**
 * Compiles the core modules of a component. All memories share the compiled modules, and the code that
 * V8 has optimized for them.
 */
export class ModuleCache {
  readonly #embedded: EmbeddedModules
  /** The compiled modules by their limit of linear memory, the most recently used last. */
  readonly #compiled = new Map<number, Promise<Modules>>()

  constructor(embedded: EmbeddedModules) {
    this.#embedded = embedded
  }

  /** Compiles the modules with their linear memory limited to `memoryLimit` bytes, unless they are cached. */
  compile(memoryLimit: number): Promise<Modules> {
    const compiled = this.#compiled.get(memoryLimit) ?? compile(this.#embedded, memoryLimit)
    this.#compiled.delete(memoryLimit)
    this.#compiled.set(memoryLimit, compiled)
    if (this.#compiled.size > maxCached) this.#compiled.delete(this.#compiled.keys().next().value!)
    compiled.catch(() => {
      if (this.#compiled.get(memoryLimit) === compiled) this.#compiled.delete(memoryLimit)
    })
    return compiled
  }
}

const decompress = promisify(zlib.zstdDecompress)

async function compile(embedded: EmbeddedModules, memoryLimit: number): Promise<Modules> {
  const modules = Object.entries(embedded).map(async ([name, text]) => {
    const bytes = await decompress(Buffer.from(text, 'base64'))
    return [name, await WebAssembly.compile(limitLinearMemory(bytes, memoryLimit))] as const
  })
  return Object.fromEntries(await Promise.all(modules))
}
