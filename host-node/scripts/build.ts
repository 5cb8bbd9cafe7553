import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle, embedModules, writeData } from './embed.ts'
import { toolsetTypes } from './toolset-types.ts'
import { transpileFiles, transpileTo } from './transpile.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const generated = join(root, 'src/generated')
const dist = join(root, 'dist')

const built = (name: string) => join(root, '../target/component/wasm32-wasip2/component', `${name}.wasm`)
const component = process.env.AGENT_MEMORY_COMPONENT ?? built('agent_memory_core')
const files = built('agent_memory_files_component')
for (const [path, command] of [
  [component, 'cargo build --release'],
  [files, 'scripts/component agent-memory-files-component'],
] as const) {
  if (existsSync(path)) continue
  console.error(`error: there is no component at \`${path}\`: run \`${command}\` first`)
  process.exit(1)
}

await transpileTo(component, join(generated, 'component'))
await transpileFiles(files, join(generated, 'files'))
const description = JSON.parse(readFileSync(join(generated, 'component/description.json'), 'utf8'))
writeFileSync(join(generated, 'toolsets.ts'), await toolsetTypes(description))
embed()

rmSync(dist, { recursive: true, force: true })
compile('.')
for (const name of ['component', 'files'])
  cpSync(join(generated, name), join(dist, 'generated', name), { recursive: true })
// The component in the package has parts with terms of their own.
for (const name of ['LICENSE', 'NOTICE']) copyFileSync(join(root, '..', name), join(root, name))
// These import the package, so they are compiled after it.
compile('adapters')
compile('cli')
compile('programs')
writeFileSync(join(dist, 'component-worker.cjs'), bundle(join(root, 'test/programs/component-worker.ts')))

/** Makes both components and the program of the workers data of the package. */
function embed(): void {
  const modules = embedModules(join(generated, 'files'))
  writeData(join(generated, 'files/embedded'), 'modules', modules, 'EmbeddedModules', '../../modules.ts')
  const embedded = {
    description,
    instructions: readFileSync(join(root, '../host-native/src/mcp/instructions.txt'), 'utf8'),
    modules: embedModules(join(generated, 'component')),
    worker: bundle(join(root, 'src/worker/main.ts')),
  }
  writeData(join(generated, 'component/embedded'), 'embedded', embedded, 'EmbeddedPackage', '../../component.ts')
}

function compile(project: string): void {
  const { status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '--project', project], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(1)
}
