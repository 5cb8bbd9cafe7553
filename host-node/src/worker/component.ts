import { readdir, readFile } from 'node:fs/promises'
import type * as Toolbox from '../generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import { limitLinearMemory } from './linear-memory.ts'

/** The function that jco generates to instantiate the component. */
export type Instantiate = (
  getCoreModule: (name: string) => WebAssembly.Module,
  imports: object,
  instantiateCore?: (module: WebAssembly.Module, imports: WebAssembly.Imports) => WebAssembly.Instance,
) => { toolbox: typeof Toolbox }

type Modules = Record<string, WebAssembly.Module>

/** A cache of the modules that were compiled last, with the code that V8 has optimized. All memories share it. */
let cache: { key: string; modules: Promise<Modules> } | undefined

/** Compiles the core modules in a directory that jco wrote, with their linear memory limited. */
export function compileModules(directory: URL, memoryLimit: number): Promise<Modules> {
  const key = `${memoryLimit} ${directory}`
  if (cache?.key !== key) cache = { key, modules: compile(directory, memoryLimit) }
  const { modules } = cache
  modules.catch(() => {
    if (cache?.modules === modules) cache = undefined
  })
  return modules
}

async function compile(directory: URL, memoryLimit: number): Promise<Modules> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.wasm'))
  const modules = names.map(async (name) => {
    const bytes = limitLinearMemory(await readFile(new URL(name, directory)), memoryLimit)
    return [name, await WebAssembly.compile(bytes)] as const
  })
  return Object.fromEntries(await Promise.all(modules))
}

/** Whether the component returned a `failure`, which jco throws as a plain record. A trap throws an `Error`. */
export function isFailure(error: unknown): error is Toolbox.Failure {
  return (
    !(error instanceof Error) && typeof error === 'object' && error !== null && 'code' in error && 'message' in error
  )
}
