import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { repositoryFile } from './fixtures/scratch.ts'

const sources = repositoryFile('host-node/src')

/** The files of `src/` with the files that they import. Imports of types count, generated files do not. */
function importsBySource(): Map<string, string[]> {
  const names = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.endsWith('.ts') && !name.startsWith('generated'))
  return new Map(files.map((file) => [file, importsOf(file)]))
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(sources, file), 'utf8')
  const imports = [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)]
  return imports.map(([, path]) => join(dirname(file), path!)).filter((path) => !path.startsWith('generated'))
}

/** A circle of imports as a list of files that ends with its first one, or undefined if there is none. */
function findCircle(imports: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>()
  const visit = (file: string, path: string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return undefined
    done.add(file)
    return imports
      .get(file)
      ?.reduce<string[] | undefined>((found, next) => found ?? visit(next, [...path, file]), undefined)
  }
  return [...imports.keys()].reduce<string[] | undefined>((found, file) => found ?? visit(file, []), undefined)
}

test('no file of the product imports itself through other files', () => {
  const imports = importsBySource()
  assert.ok(imports.get('index.ts')?.includes('open-memory.ts'), 'imports are not found')
  for (const [file, paths] of imports) {
    for (const path of paths) assert.ok(imports.has(path), `\`${file}\` imports \`${path}\`, which is not found`)
  }
  assert.deepEqual(findCircle(imports), undefined)
})

test('a circle of imports is found', () => {
  const imports = { a: ['b', 'c'], b: ['c'], c: ['d'], d: ['b'] }
  assert.deepEqual(findCircle(new Map(Object.entries(imports))), ['b', 'c', 'd', 'b'])
  assert.equal(findCircle(new Map(Object.entries({ ...imports, d: [] }))), undefined)
})
