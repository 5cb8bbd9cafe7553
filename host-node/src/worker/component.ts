import { readdir, readFile } from 'node:fs/promises'
import type * as Toolbox from '../generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import { limitLinearMemory } from './linear-memory.ts'

/** The function that jco generates to instantiate the component. */
export type Instantiate = (
  getCoreModule: (name: string) => WebAssembly.Module,
  imports: object,
  instantiateCore?: (module: WebAssembly.Module, imports: WebAssembly.Imports) => WebAssembly.Instance,
) => { toolbox: typeof Toolbox }

export type Modules = Readonly<Record<string, WebAssembly.Module>>

/** The core modules of a component, which were read. Their code is compiled meanwhile. */
export interface Loaded {
  readonly compiled: Promise<Modules>
}

/** The components that were loaded last, with the code that V8 has optimized. All memories share them. */
const cache = new Map<string, Promise<Loaded>>()
const maxCached = 4

type Files = readonly (readonly [name: string, bytes: Uint8Array])[]

/**
 * Begins to read the core modules in a directory that jco wrote, unless they are cached. Returns a function that loads
 * them with their linear memory limited.
 */
export function startLoading(directory: URL): (memoryLimit: number) => Promise<Loaded> {
  const isCached = [...cache.keys()].some((key) => key.endsWith(` ${directory}`))
  const files = isCached ? undefined : readModules(directory)
  files?.catch(() => {})
  return (memoryLimit) => {
    const key = `${memoryLimit} ${directory}`
    const loaded = cache.get(key) ?? load(files ?? readModules(directory), memoryLimit)
    cache.delete(key)
    cache.set(key, loaded)
    if (cache.size > maxCached) cache.delete(cache.keys().next().value!)
    loaded
      .then(({ compiled }) => compiled)
      .catch(() => {
        if (cache.get(key) === loaded) cache.delete(key)
      })
    return loaded
  }
}

async function readModules(directory: URL): Promise<Files> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.wasm'))
  return Promise.all(names.map(async (name) => [name, await readFile(new URL(name, directory))] as const))
}

async function load(files: Promise<Files>, memoryLimit: number): Promise<Loaded> {
  const limited = (await files).map(([name, bytes]) => [name, limitLinearMemory(bytes, memoryLimit)] as const)
  const compiled = limited.map(async ([name, bytes]) => [name, await WebAssembly.compile(bytes)] as const)
  return { compiled: Promise.all(compiled).then((modules) => Object.fromEntries(modules)) }
}

/** Whether the component returned a `failure`, which jco throws as a plain record. A trap throws an `Error`. */
export function isFailure(error: unknown): error is Toolbox.Failure {
  return (
    !(error instanceof Error) && typeof error === 'object' && error !== null && 'code' in error && 'message' in error
  )
}
