// Packs the package as it is published, to a directory: with the packages of the platforms as optional dependencies, and
// without what only its development needs:
//     node scripts/pack.ts OUT
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { optionalDependencies } from './platforms.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const [out = '.'] = process.argv.slice(2)
const stage = mkdtempSync(join(tmpdir(), 'agent-memory-pack-'))
try {
  for (const name of ['dist', 'LICENSE', 'NOTICE', 'README.md'])
    cpSync(join(root, name), join(stage, name), { recursive: true })
  const { scripts, devDependencies, overrides, allowScripts, prettier, ...published } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const manifest = { ...published, optionalDependencies: optionalDependencies() }
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  const npm = spawnSync('npm', ['pack', '--loglevel=error', '--pack-destination', resolve(out)], {
    cwd: stage,
    stdio: 'inherit',
  })
  process.exitCode = npm.status ?? 1
} finally {
  rmSync(stage, { recursive: true })
}
