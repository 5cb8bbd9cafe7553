import { readdir, readFile } from 'node:fs/promises'
import type * as Toolbox from '../generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import { capMemory } from './linear-memory.ts'

/** What jco makes of the component. */
export type Instantiate = (
  getCoreModule: (name: string) => WebAssembly.Module,
  imports: object,
) => { toolbox: typeof Toolbox }

type Modules = Record<string, WebAssembly.Module>

/** What was compiled last: memories of one process share it, and with it what V8 has optimized. */
let last: { of: string; modules: Promise<Modules> } | undefined

/** The core modules in a directory that jco wrote, each with its memory capped. */
export function compileModules(directory: URL, memoryLimit: number): Promise<Modules> {
  const of = `${memoryLimit} ${directory}`
  if (last?.of !== of) last = { of, modules: compile(directory, memoryLimit) }
  const { modules } = last
  modules.catch(() => {
    if (last?.modules === modules) last = undefined
  })
  return modules
}

async function compile(directory: URL, memoryLimit: number): Promise<Modules> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.wasm'))
  const modules = names.map(async (name) => {
    const bytes = capMemory(await readFile(new URL(name, directory)), memoryLimit)
    return [name, await WebAssembly.compile(bytes)] as const
  })
  return Object.fromEntries(await Promise.all(modules))
}

/** Whether the component answered with a `failure`: it throws the plain record, and a dead guest throws an `Error`. */
export function isFailure(error: unknown): error is Toolbox.Failure {
  return (
    !(error instanceof Error) && typeof error === 'object' && error !== null && 'code' in error && 'message' in error
  )
}
