// Fails if `dist` is older than its sources: the tests would run old code.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const given = process.env.AGENT_MEMORY_COMPONENT
const product = (name: string) => join(root, '../target/component/wasm32-wasip2/component', `${name}.wasm`)
const component = given ?? product('agent_memory_core')
const files = product('agent_memory_files_component')

requireFresh(files, sourcesListedFor(files), 'scripts/files-component')
if (given === undefined) requireFresh(component, sourcesListedFor(component), 'cargo build --release')
const sources = ['src', 'adapters', 'cli', 'programs', 'scripts', 'test/programs'].flatMap((directory) =>
  filesBelow(join(root, directory)),
)
const build = 'npm run --prefix host-node build'
const shared = ['package.json', '../host-native/src/mcp/instructions.txt'].map((name) => join(root, name))
requireFresh(join(root, 'dist/index.js'), [component, files, ...shared, ...sources], build)

/** Exits with an error if a product is missing or older than a source. A missing source counts as newer. */
function requireFresh(product: string, sources: string[], command: string): void {
  const built = modified(product) ?? -Infinity
  const newer = sources.find((source) => (modified(source) ?? Infinity) > built)
  if (newer === undefined) return
  console.error(`error: \`${product}\` is missing or older than \`${newer}\`: run \`${command}\` first`)
  process.exit(1)
}

function modified(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs
}

/** The sources that cargo lists for a product, in the `.d` file beside it. */
function sourcesListedFor(product: string): string[] {
  const list = product.replace(/\.wasm$/, '.d')
  if (!existsSync(list)) return [list]
  const [line = ''] = readFileSync(list, 'utf8').split('\n')
  const [, ...paths] = line.split(/(?<!\\) /)
  return paths.map((path) => path.replaceAll('\\ ', ' '))
}

function filesBelow(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
