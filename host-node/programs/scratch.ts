import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Case, Documents, Places } from './case.ts'

/** What a host keeps in a directory of records beside the documents. */
const ownNames = /^(\.agent-memory|memories\.db(-journal|-shm|-wal)?)$/

/** A scratch repository, a directory beside it that is not granted, and room for a directory of records. */
export class Scratch implements Disposable {
  readonly places: Places
  /** It exists only where the case gives something in it. */
  readonly memoryDir: string
  readonly #directory: string
  readonly #ofRecords: boolean

  constructor({ given, format }: Pick<Case, 'given' | 'format'>) {
    this.#ofRecords = format !== undefined
    this.#directory = realpathSync(mkdtempSync(join(tmpdir(), 'agent-memory-')))
    this.places = { repo: join(this.#directory, 'repo'), elsewhere: join(this.#directory, 'elsewhere') }
    this.memoryDir = join(this.#directory, 'memories')
    mkdirSync(this.places.elsewhere)
    write(join(this.places.repo, '.git/HEAD'), 'ref: refs/heads/main\n')
    const modes = this.#ofRecords ? { directory: 0o700, file: 0o600 } : {}
    for (const [path, contents] of given) write(join(this.#tree, path), contents, modes)
  }

  /** Every file of the tree that is not the host's own. */
  documents(): Documents {
    if (!existsSync(this.#tree)) return new Map()
    const entries = readdirSync(this.#tree, { recursive: true, withFileTypes: true }).filter(
      (entry) => !entry.isDirectory(),
    )
    const paths = entries.map((entry) => join(entry.parentPath, entry.name).slice(this.#tree.length + 1))
    const documents = paths.filter((path) => !this.#ofRecords || !ownNames.test(path.split('/', 1)[0]!))
    return new Map(documents.sort().map((path) => [path, readFileSync(join(this.#tree, path))]))
  }

  /** What stands where nothing should, outside of `.git` and the tree, and what of the records others may use. */
  strays(): string[] {
    const { repo, elsewhere } = this.places
    const github = join(repo, '.github')
    return [
      ...readdirSync(repo).filter((name) => name !== '.git' && name !== '.github'),
      ...(existsSync(github) ? readdirSync(github).filter((name) => name !== 'agent-memory') : []),
      ...readdirSync(elsewhere),
      ...this.#open(),
    ]
  }

  #open(): string[] {
    if (!existsSync(this.memoryDir)) return []
    const below = readdirSync(this.memoryDir, { recursive: true, encoding: 'utf8' })
    return ['.', ...below]
      .map((name) => ({ name, mode: modeOf(join(this.memoryDir, name)) }))
      .filter(({ mode }) => (mode & 0o077) !== 0)
      .map(({ name, mode }) => `memories/${name} (${mode.toString(8)})`)
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }

  get #tree(): string {
    return this.#ofRecords ? this.memoryDir : join(this.places.repo, '.github/agent-memory')
  }
}

/** The permission bits; none of what SQLite has just removed, as it does when a thread ends. */
function modeOf(path: string): number {
  return (lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777
}

function write(
  path: string,
  contents: string | Buffer,
  { directory = 0o777, file = 0o666 }: { directory?: number; file?: number } = {},
): void {
  mkdirSync(dirname(path), { recursive: true, mode: directory })
  writeFileSync(path, contents, { mode: file })
}
