import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toolsetTypes } from './toolset-types.ts'
import { transpileTo } from './transpile.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const generated = join(root, 'src/generated/component')
const dist = join(root, 'dist')

const component =
  process.env.AGENT_MEMORY_COMPONENT ?? join(root, '../target/component/wasm32-wasip2/component/agent_memory_core.wasm')
if (!existsSync(component)) {
  console.error(`error: there is no component at \`${component}\`: run \`cargo build --release\` first`)
  process.exit(1)
}

await transpileTo(component, generated)
const description = JSON.parse(readFileSync(join(generated, 'description.json'), 'utf8'))
writeFileSync(join(root, 'src/generated/toolsets.ts'), await toolsetTypes(description))

rmSync(dist, { recursive: true, force: true })
compile('.')
cpSync(generated, join(dist, 'generated/component'), { recursive: true })
// The component in the package has parts with terms of their own.
for (const name of ['LICENSE', 'NOTICE']) copyFileSync(join(root, '..', name), join(dist, name))
// The programs import the package, so they are compiled after it.
compile('programs')

function compile(project: string): void {
  const { status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '--project', project], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(1)
}
