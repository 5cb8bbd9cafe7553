import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { transpile } from '@bytecodealliance/jco-transpile'
import type { CallStorage } from '../src/worker/call.ts'
import { database, documents } from '../src/worker/capability.ts'
import { compileModules, type Instantiate } from '../src/worker/component.ts'
import { inertWasi } from '../src/worker/wasi.ts'

/**
 * What is changed in jco's output: each text must be there exactly once, or jco has changed and this list
 * has to be looked at again.
 */
const patches = [
  {
    // Reads the environment at each import, which is half of an import's cost.
    from: 'if (!globalThis?.process?.env?.JCO_DEBUG) { return; }',
    to: 'return;',
  },
  {
    // A byte order mark at the beginning of a string is part of it.
    from: 'const TEXT_DECODER_UTF8 = new TextDecoder();',
    to: "const TEXT_DECODER_UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });",
  },
]

/**
 * Turns a component into JavaScript and core modules in a directory, which is emptied first, and writes beside them what
 * the component says of itself.
 */
export async function transpileTo(component: string, directory: string): Promise<void> {
  const { files } = await transpile(component, { name: 'component', instantiation: 'sync', base64Cutoff: 0 })
  await rm(directory, { recursive: true, force: true })
  for (const [name, contents] of Object.entries(files)) {
    const path = join(directory, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, contents)
  }
  const main = join(directory, 'component.js')
  await writeFile(main, patches.reduce(patch, await readFile(main, 'utf8')))
  await writeFile(join(directory, 'description.json'), await describe(directory))
}

async function describe(directory: string): Promise<string> {
  const url = pathToFileURL(`${directory}/`)
  const { instantiate } = (await import(new URL('component.js', url).href)) as { instantiate: Instantiate }
  const modules = await compileModules(url, 256 * 1024 * 1024)
  // It asks storage nothing.
  const nothing = {} as CallStorage
  const { toolbox } = instantiate((name) => modules[name]!, {
    'agent-memory:storage/documents': documents(nothing),
    'agent-memory:storage/database': database(nothing),
    ...inertWasi().imports,
  })
  return toolbox.describe()
}

function patch(text: string, { from, to }: { from: string; to: string }): string {
  if (text.split(from).length !== 2) throw new Error(`jco's output does not have \`${from}\` exactly once`)
  return text.replace(from, () => to)
}
