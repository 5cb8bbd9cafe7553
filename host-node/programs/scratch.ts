import {
  existsSync,
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
import type { Documents, Places } from './case.ts'

/** A scratch repository, and a directory beside it that is not granted. */
export class Scratch implements Disposable {
  readonly places: Places
  readonly #directory: string

  constructor(given: Documents) {
    this.#directory = realpathSync(mkdtempSync(join(tmpdir(), 'agent-memory-')))
    this.places = { repo: join(this.#directory, 'repo'), elsewhere: join(this.#directory, 'elsewhere') }
    mkdirSync(this.places.elsewhere)
    write(join(this.places.repo, '.git/HEAD'), 'ref: refs/heads/main\n')
    for (const [path, contents] of given) write(join(this.#tree, path), contents)
  }

  /** Every file of the tree. */
  documents(): Documents {
    if (!existsSync(this.#tree)) return new Map()
    const entries = readdirSync(this.#tree, { recursive: true, withFileTypes: true }).filter(
      (entry) => !entry.isDirectory(),
    )
    const paths = entries.map((entry) => join(entry.parentPath, entry.name)).sort()
    return new Map(paths.map((path) => [path.slice(this.#tree.length + 1), readFileSync(path)]))
  }

  /** What stands where nothing should: outside of `.git` and the tree. */
  strays(): string[] {
    const { repo, elsewhere } = this.places
    const github = join(repo, '.github')
    return [
      ...readdirSync(repo).filter((name) => name !== '.git' && name !== '.github'),
      ...(existsSync(github) ? readdirSync(github).filter((name) => name !== 'agent-memory') : []),
      ...readdirSync(elsewhere),
    ]
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }

  get #tree(): string {
    return join(this.places.repo, '.github/agent-memory')
  }
}

function write(path: string, contents: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, contents)
}
