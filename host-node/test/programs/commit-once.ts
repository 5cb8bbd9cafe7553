// Makes one commit, for tests that count its syncs. `backup` copies a document and changes it, `new` creates a document
// and changes another one, and `rename` renames a document.
import { commit } from '../../dist/storage/commit.js'
import { findRepository } from '../../dist/storage/repository.js'
import { areasOf, versionOf } from '../../dist/storage/tree.js'

const [repository, what, durability] = process.argv.slice(2) as [string, string, 'full' | 'relaxed']
const area = 'documents' as const
const expects = versionOf(Buffer.from('old'))
const contents = Buffer.from('new')
const put = { tag: 'put' as const, val: { area, path: 'a.json', contents, expects } }
const changes: Record<string, Parameters<typeof commit>[1]> = {
  backup: [{ tag: 'copy', val: { area, from: 'a.json', to: 'a.json.backup', expects } }, put],
  new: [{ tag: 'put', val: { area, path: 'b.json', contents } }, put],
  rename: [{ tag: 'rename', val: { area, from: 'a.json', to: 'b/a.json', expects } }],
}
commit(areasOf(findRepository(repository, [repository])), changes[what]!, durability)
