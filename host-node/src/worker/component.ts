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

/** Loads the core modules in a directory that jco wrote, with their linear memory limited. */
export function loadModules(directory: URL, memoryLimit: number): Promise<Loaded> {
  const key = `${memoryLimit} ${directory}`
  const loaded = cache.get(key) ?? load(directory, memoryLimit)
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

async function load(directory: URL, memoryLimit: number): Promise<Loaded> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.wasm'))
  const read = names.map(async (name) => {
    return [name, limitLinearMemory(await readFile(new URL(name, directory)), memoryLimit)] as const
  })
  const modules = await Promise.all(read)
  const compiled = modules.map(async ([name, bytes]) => [name, await WebAssembly.compile(bytes)] as const)
  return { compiled: Promise.all(compiled).then((modules) => Object.fromEntries(modules)) }
}

/** Whether the component returned a `failure`, which jco throws as a plain record. A trap throws an `Error`. */
export function isFailure(error: unknown): error is Toolbox.Failure {
  return (
    !(error instanceof Error) && typeof error === 'object' && error !== null && 'code' in error && 'message' in error
  )
}
