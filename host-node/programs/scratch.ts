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
import { DatabaseSync } from 'node:sqlite'
import type { Case, Documents, Places } from './case.ts'

/** The host's own files in a directory of records, or beside the database of layers. */
const ownNames = /^(\.agent-memory|(memories|layers)\.db(-journal|-shm|-wal)?)$/

/** A temporary repository, a directory that is not granted, and a path for a directory of records or a database. */
export class Scratch implements Disposable {
  readonly places: Places
  /** The directory of records or of the database. It exists at first only if the case gives something in it. */
  readonly memoryDir: string
  /** The path of the database of layers. */
  readonly database: string
  /** The data directory, with the stores and memory files. It exists at first only if the case gives such. */
  readonly dataDir: string
  readonly #directory: string
  readonly #toolset: string

  constructor({ toolset, given, givenStores, givenSql }: Pick<Case, 'toolset' | 'given' | 'givenStores' | 'givenSql'>) {
    this.#toolset = toolset
    this.#directory = realpathSync(mkdtempSync(join(tmpdir(), 'agent-memory-')))
    this.dataDir = join(this.#directory, 'data')
    this.places = {
      repo: join(this.#directory, 'repo'),
      elsewhere: join(this.#directory, 'elsewhere'),
      stores: join(this.dataDir, 'stores'),
    }
    this.memoryDir = join(this.#directory, 'memories')
    this.database = join(this.memoryDir, 'layers.db')
    mkdirSync(this.places.elsewhere)
    write(join(this.places.repo, '.git/HEAD'), 'ref: refs/heads/main\n')
    const modes = isInRepository(toolset) ? {} : { directory: 0o700, file: 0o600 }
    for (const name of givenStores) mkdirSync(join(this.places.stores, name), { recursive: true, mode: 0o700 })
    if (givenStores.length > 0) write(join(this.dataDir, 'stores.yaml'), this.#registryOf(givenStores), modes)
    for (const [path, contents] of given) write(join(this.#tree, path), contents, modes)
    if (givenSql.length > 0) {
      write(this.database, '', modes)
      using database = new DatabaseSync(this.database)
      for (const sql of givenSql) database.exec(sql)
    }
  }

  /** All files of the tree except the host's own. */
  documents(): Documents {
    if (!existsSync(this.#tree)) return new Map()
    const entries = readdirSync(this.#tree, { recursive: true, withFileTypes: true }).filter(
      (entry) => !entry.isDirectory(),
    )
    const paths = entries.map((entry) => join(entry.parentPath, entry.name).slice(this.#tree.length + 1))
    const depth = this.#toolset === 'stores' ? 1 : 0
    const documents = paths.filter(
      (path) => isInRepository(this.#toolset) || !ownNames.test(path.split('/')[depth] ?? ''),
    )
    return new Map(documents.sort().map((path) => [path, readFileSync(join(this.#tree, path))]))
  }

  /** The rows of a query of the database, as another program would get them. */
  rows(query: string): unknown[][] {
    if (!existsSync(this.database)) throw new Error('there is no database')
    using database = new DatabaseSync(this.database, { returnArrays: true })
    const rows = database.prepare(query).all() as unknown as unknown[][]
    if (rows.flat().some((value) => value instanceof Uint8Array)) throw new Error('a blob is no JSON')
    return rows
  }

  /** Files outside of `.git` and the tree, which should not exist, and memories that other users may access. */
  unexpectedFiles(): string[] {
    const { repo, elsewhere } = this.places
    const github = join(repo, '.github')
    return [
      ...readdirSync(repo).filter((name) => name !== '.git' && name !== '.github'),
      ...(existsSync(github) ? readdirSync(github).filter((name) => name !== 'agent-memory') : []),
      ...readdirSync(elsewhere),
      ...this.#accessibleToOthers(),
    ]
  }

  #accessibleToOthers(): string[] {
    return [this.memoryDir, this.dataDir].filter(existsSync).flatMap((directory) => {
      const below = readdirSync(directory, { recursive: true, encoding: 'utf8' })
      return ['.', ...below]
        .map((name) => ({ name, mode: modeOf(join(directory, name)) }))
        .filter(({ mode }) => (mode & 0o077) !== 0)
        .map(({ name, mode }) => `${directory}/${name} (${mode.toString(8)})`)
    })
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }

  get #tree(): string {
    if (isInRepository(this.#toolset)) return join(this.places.repo, '.github/agent-memory')
    if (this.#toolset === 'files') return join(this.dataDir, 'files')
    return this.#toolset === 'stores' ? this.places.stores : this.memoryDir
  }

  #registryOf(names: readonly string[]): string {
    const store = (name: string) =>
      `  ${name}:\n    kind: filesystem\n    properties:\n      path: ${join(this.places.stores, name)}\n`
    return `stores:\n${names.map(store).join('')}`
  }
}

/** The permission bits, or 0 if the file is gone: SQLite removes files when a thread ends. */
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

/** Whether the documents of a case of this toolset are in the repository. */
function isInRepository(toolset: string): boolean {
  return toolset === 'sessions' || toolset === 'memory'
}
