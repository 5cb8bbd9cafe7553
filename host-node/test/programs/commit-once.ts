// Makes one commit, for tests that count its syncs. `backup` copies a document and changes it, `new` creates a document
// and changes another one, and `rename` renames a document.
import { copy, put, rename, version } from '../fixtures/changes.ts'
import { openRepository } from '../fixtures/places.ts'

const [repository, what, durability] = process.argv.slice(2) as [string, string, string]
const expects = version('old')
const changes: Record<string, (ReturnType<typeof copy> | ReturnType<typeof put> | ReturnType<typeof rename>)[]> = {
  backup: [copy('a.json', 'a.json.backup', expects), put('a.json', 'new', expects)],
  new: [put('b.json', 'new'), put('a.json', 'new', expects)],
  rename: [rename('a.json', 'b/a.json', expects)],
}
openRepository(repository, [repository], durability === 'full').commit(changes[what]!)
