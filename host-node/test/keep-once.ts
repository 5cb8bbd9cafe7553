// Keeps a backup of a document and changes it in one commit, for the count of its syncs.
import { commit } from '../dist/storage/commit.js'
import { findRepository } from '../dist/storage/repository.js'
import { areasOf, versionOf } from '../dist/storage/tree.js'

const [repository, before, after] = process.argv.slice(2) as [string, string, string]
const area = 'documents' as const
const expects = versionOf(Buffer.from(before))
const backup = { area, from: 'a.json', to: 'a.json.backup', expects }
const put = { area, path: 'a.json', contents: Buffer.from(after), expects }
commit(
  areasOf(findRepository(repository, [repository])),
  [
    { tag: 'copy', val: backup },
    { tag: 'put', val: put },
  ],
  'full',
)
