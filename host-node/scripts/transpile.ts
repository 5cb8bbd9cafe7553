import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { transpile } from '@bytecodealliance/jco-transpile'
import { transform } from 'esbuild'
import { limitLinearMemory } from '../src/linear-memory.ts'
import type { CallStorage } from '../src/worker/call.ts'
import { database, documents } from '../src/worker/capability.ts'
import type { Instantiate } from '../src/worker/toolbox.ts'
import { inertWasi } from '../src/wasi.ts'

/** Changes to jco's output. Each `from` has to be there exactly once. Otherwise jco has changed: review this list. */
const patches = [
  {
    // This reads the environment in each import call, which takes half of its time.
    from: 'if (!globalThis?.process?.env?.JCO_DEBUG) { return; }',
    to: 'return;',
  },
  {
    // Nothing reads this set, which would grow with each resource of an instance that serves many calls.
    from: 'table._createdReps.add(rep);',
    to: '',
  },
  {
    // Otherwise a byte order mark at the beginning of a string would be lost.
    from: 'const TEXT_DECODER_UTF8 = new TextDecoder();',
    to: "const TEXT_DECODER_UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });",
  },
]

/**
 * Further changes: no import of ours suspends, so none needs the tasks that jco makes for each call of one. They take
 * most of a call's time, and jco lowers each result a second time with them.
 */
const withoutTasks: readonly { from: RegExp; to: string }[] = [
  { from: /let (trampoline\d+) = (_\1)\.manuallyAsync \?[^]*?\n  \);\n/g, to: 'let $1 = $2;\n' },
  { from: /    const hostProvided = true;\n[^]*?\n    const started = task\.enterSync\(\);\n/g, to: '' },
  {
    from: /_withGlobalCurrentTaskMeta\(\{\s*componentIdx: task\.componentIdx\(\),\s*taskID: task\.id\(\),\s*fn: \(\) => _trackHostOperation\(\(\) => ([^]*?)\),\n      \}\)\n/g,
    to: '$1\n',
  },
  {
    from: /      _debugLog\('\[Instruction::CallInterface\] error during sync call', \{[^}]*\}\);\n(\s*getOrCreateAsyncState\(0\)\.markTrapped\(err\);\n)\s*task\.setErrored\(err\);\n\s*task\.reject\(err\);\n\s*task\.exit\(\);\n/g,
    to: '$1',
  },
  { from: /\n    task\.resolve\(\[[^\n]*\]\);\n    task\.exit\(\);\n/g, to: '\n' },
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
    await writeFile(path, name.endsWith('.wasm') ? limitLinearMemory(contents as Uint8Array, 2 ** 32) : contents)
  }
  const [core] = Object.entries(files).filter(([name]) => name === 'component.core.wasm')
  if (core !== undefined) requireOneGlobal(core[1] as Uint8Array)
  const main = join(directory, 'component.js')
  const patched = patches.reduce(patch, await readFile(main, 'utf8'))
  const { code } = await transform(removeTasks(patched), { minify: true, target: 'es2022' })
  await writeFile(main, code)
}

/**
 * Throws if a core module has a global that can change, apart from the stack pointer: setting back the linear memory
 * would not set back the instance.
 *
 * @see https://webassembly.github.io/spec/core/binary/modules.html#global-section
 */
function requireOneGlobal(module: Uint8Array): void {
  const globals = WebAssembly.Module.exports(new WebAssembly.Module(module as BufferSource)).filter(
    ({ kind }) => kind === 'global',
  )
  const section = sectionOf(module, 6)
  // Each of them is an `i32`: type, whether it changes, and its value.
  const found = [...section.matchAll(/7f(0[01])41(?:[89a-f][0-9a-f])*[0-7][0-9a-f]0b/g)]
  if (found.filter(([, changes]) => changes === '01').length !== 1 || globals.length > 0)
    throw new Error('the component has further globals that can change')
}

/** A section of a module in hexadecimal digits. */
function sectionOf(module: Uint8Array, id: number): string {
  const leb128 = (at: number): [value: number, next: number] => {
    for (let value = 0, factor = 1; ; factor *= 128) {
      const byte = module[at++]!
      value += (byte & 127) * factor
      if (byte < 128) return [value, at]
    }
  }
  for (let at = 8; at < module.length;) {
    const [length, start] = leb128(at + 1)
    if (module[at] === id) return Buffer.from(module.subarray(start, start + length)).toString('hex')
    at = start + length
  }
  return ''
}

/** The code with imports that make no tasks. */
function removeTasks(text: string): string {
  const changed = withoutTasks.reduce((text, { from, to }) => text.replace(from, to), text)
  const left = changed.match(/const _trampoline\d+ = function[^]*?\n  \}\n/g)?.filter((code) => /\btask\b/.test(code))
  if (!left?.length && !changed.includes('.manuallyAsync')) return changed
  throw new Error(`jco's code of an import has changed: ${left?.[0]}`)
}

async function describe(directory: string): Promise<string> {
  const url = pathToFileURL(`${directory}/`)
  const { instantiate } = (await import(new URL('component.js', url).href)) as { instantiate: Instantiate }
  const compile = async (name: string) => WebAssembly.compile(await readFile(new URL(name, url)))
  const names = (await readdir(url)).filter((name) => name.endsWith('.wasm'))
  const modules = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await compile(name)])))
  // `describe` does not use storage.
  const noStorage = { call: {} as CallStorage }
  const { toolbox } = instantiate((name) => modules[name], {
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
