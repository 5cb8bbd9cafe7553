import { parse, sep } from 'node:path'
import { commit } from './commit.ts'
import type { Durability, LockDirectory } from './directory.ts'
import { CommitError, StorageError } from './error.ts'
import type { FileLocation } from './named-place.ts'
import { type Areas, readDocument } from './tree.ts'

/** The most bytes of a registry. */
const maxBytes = 1024 * 1024

/** The format of the text of registries: functions of the component. Both throw an error with a message for a person. */
export interface RegistryFormat {
  /** The places of a registry: a JSON object from names to `Registered`. */
  parse(text: string): string
  /** The text after one change. */
  edit(text: string, change: string): string
}

/** A place that a registry lists. */
export interface Registered {
  /** Its path as the registry has it. Empty if the registry gives none. */
  readonly path: string
  readonly description?: string
  /** The reason why it cannot be used. */
  readonly unusable?: string
  /** Parts of it that are ignored, for a person. */
  readonly warnings?: readonly string[]
}

type Change = { readonly add: { readonly name: string; readonly path: string } }

/**
 * The registry of a family: a file that lists its places. A person may edit it at any time, so it is read whenever it
 * is needed, and parsed when it has changed. It has a lock of its own, which is released before a place is locked.
 */
export class Registry {
  readonly lock: LockDirectory
  readonly #file: FileLocation
  readonly #areas: Areas
  readonly #format: RegistryFormat
  /** The text that was parsed last, and its places. */
  #parsed: { readonly text: string; readonly registered: ReadonlyMap<string, Registered> } = {
    text: '',
    registered: new Map(),
  }

  constructor(file: FileLocation, format: RegistryFormat) {
    const { root: anchor } = parse(file.path)
    const segments = file.path
      .slice(anchor.length)
      .split(sep)
      .filter((segment) => segment !== '')
    const own = '.agent-memory'
    this.lock = {
      anchor,
      segments: [...segments, own, file.file],
      isPrivate: true,
      isHidden: true,
      location: file.location,
    }
    this.#areas = {
      documents: { anchor, segments, isPrivate: true, ownNames: [own] },
      bookkeeping: { ...this.lock, segments: [...this.lock.segments, 'bookkeeping'] },
    }
    this.#file = file
    this.#format = format
  }

  /** The text and its version, and the places that it lists. A missing file lists none. */
  read(): { text: string; version: string | undefined; registered: ReadonlyMap<string, Registered> } {
    const document = readDocument(this.#areas, 'documents', this.#file.file, BigInt(maxBytes))
    const text = document === undefined ? '' : this.#textOf(document.contents)
    if (text !== this.#parsed.text) {
      const places = JSON.parse(this.#run(() => this.#format.parse(text), 'io', this.#broken)) as Record<
        string,
        Registered
      >
      this.#parsed = { text, registered: new Map(Object.entries(places)) }
      for (const [name, { unusable, warnings = [] }] of this.#parsed.registered) {
        for (const warning of warnings) console.warn(`agent-memory: ${this.#file.location}: ${warning}`)
        if (unusable !== undefined)
          console.warn(`agent-memory: ${this.#file.location}: \`${name}\` cannot be used: ${unusable}`)
      }
    }
    return { text, version: document?.version, registered: this.#parsed.registered }
  }

  /** The text after a change. */
  edit(text: string, change: Change): string {
    return this.#run(() => this.#format.edit(text, JSON.stringify(change)), 'invalid-path', '')
  }

  /** Replaces the text, which had this version. The caller has the lock. */
  write(text: string, version: string | undefined, durability: Durability, checkLock: () => void): void {
    const put = { area: 'documents', path: this.#file.file, contents: Buffer.from(text), expects: version } as const
    try {
      commit(this.#areas, [{ tag: 'put', val: put }], durability, checkLock)
    } catch (error) {
      if (!(error instanceof CommitError)) throw error
      if (error.error.code !== 'version-mismatch') throw error.error
      throw new StorageError('busy', `somebody changed \`${this.#file.location}\` meanwhile: try again`)
    }
  }

  get #broken(): string {
    return `the registry \`${this.#file.location}\` cannot be used: `
  }

  #textOf(contents: Uint8Array): string {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(contents)
    } catch {
      throw new StorageError('io', `${this.#broken}it is not UTF-8`)
    }
  }

  #run(work: () => string, code: 'io' | 'invalid-path', prefix: string): string {
    try {
      return work()
    } catch (error) {
      throw new StorageError(code, prefix + (error as Error).message)
    }
  }
}
