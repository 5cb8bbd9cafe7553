import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { transpile } from '@bytecodealliance/jco-transpile'
import type { CallStorage } from '../src/worker/call.ts'
import { database, documents } from '../src/worker/capability.ts'
import { compileModules, type Instantiate } from '../src/worker/component.ts'
import { inertWasi } from '../src/worker/wasi.ts'

/** Changes to jco's output. Each `from` has to be there exactly once. Otherwise jco has changed: review this list. */
const patches = [
  {
    // This reads the environment in each import call, which takes half of its time.
    from: 'if (!globalThis?.process?.env?.JCO_DEBUG) { return; }',
    to: 'return;',
  },
  {
    // Otherwise a byte order mark at the beginning of a string would be lost.
    from: 'const TEXT_DECODER_UTF8 = new TextDecoder();',
    to: "const TEXT_DECODER_UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });",
  },
]

/**
 * Transpiles a component to a directory: JavaScript (`component.js`), core modules and the component's description
 * (`description.json`). The directory is emptied first.
 */
export async function transpileTo(component: string, directory: string): Promise<void> {
  await transpileFiles(component, directory)
  await writeFile(join(directory, 'description.json'), await describe(directory))
}

/** The same for a component that does not describe itself. */
export async function transpileFiles(component: string, directory: string): Promise<void> {
  const { files } = await transpile(component, { name: 'component', instantiation: 'sync', base64Cutoff: 0 })
  await rm(directory, { recursive: true, force: true })
  for (const [name, contents] of Object.entries(files)) {
    const path = join(directory, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, contents)
  }
  const main = join(directory, 'component.js')
  await writeFile(main, patches.reduce(patch, await readFile(main, 'utf8')))
}

async function describe(directory: string): Promise<string> {
  const url = pathToFileURL(`${directory}/`)
  const { instantiate } = (await import(new URL('component.js', url).href)) as { instantiate: Instantiate }
  const modules = await compileModules(url, 256 * 1024 * 1024)
  // `describe` does not use storage.
  const noStorage = {} as CallStorage
  const { toolbox } = instantiate((name) => modules[name]!, {
    'agent-memory:storage/documents': documents(noStorage),
    'agent-memory:storage/database': database(noStorage),
    ...inertWasi().imports,
  })
  return toolbox.describe()
}

function patch(text: string, { from, to }: { from: string; to: string }): string {
  if (text.split(from).length !== 2) throw new Error(`jco's output does not have \`${from}\` exactly once`)
  return text.replace(from, () => to)
}
