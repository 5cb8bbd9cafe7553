// Makes the npm package of one platform, with its native program:
//     node scripts/platform-package.ts PLATFORM BINARY OUT
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { manifestOf } from './platforms.ts'

const [platform = '', binary = '', out = ''] = process.argv.slice(2)
const manifest = manifestOf(platform)
if (manifest === undefined || out === '') {
  console.error('usage: node scripts/platform-package.ts PLATFORM BINARY OUT')
  process.exit(2)
}
const program = join(out, manifest.program)
mkdirSync(join(out, 'bin'), { recursive: true })
writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest.json, null, 2)}\n`)
copyFileSync(binary, program)
chmodSync(program, 0o755)
for (const name of ['LICENSE', 'NOTICE'])
  copyFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), join(out, name))
