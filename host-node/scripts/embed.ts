import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { constants, zstdCompressSync } from 'node:zlib'
import { buildSync } from 'esbuild'
import type { EmbeddedModules } from '../src/modules.ts'

/** One that takes little time to compress is for tests. */
export type Level = 'fast' | 'small'

/** The core modules in a directory that `transpile.ts` has written. */
export function embedModules(directory: string, level: Level = 'small'): EmbeddedModules {
  const names = readdirSync(directory).filter((name) => name.endsWith('.wasm'))
  const params = { [constants.ZSTD_c_compressionLevel]: level === 'small' ? 19 : 1 }
  const embed = (name: string) => zstdCompressSync(readFileSync(join(directory, name)), { params }).toString('base64')
  return Object.fromEntries(names.map((name) => [name, embed(name)]))
}

/** A program with all that it imports, as a script in CommonJS. */
export function bundle(program: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [program],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    minify: true,
    write: false,
  })
  return outputFiles[0]!.text
}

/** Writes a module that exports data, and its types. */
export function writeData(path: string, name: string, data: object, type: string, from: string): void {
  writeFileSync(`${path}.js`, `export const ${name} = ${JSON.stringify(data)}\n`)
  writeFileSync(`${path}.d.ts`, `import type { ${type} } from '${from}'\nexport declare const ${name}: ${type}\n`)
}
