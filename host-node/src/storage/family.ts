import { isAbsolute, join } from 'node:path'
import { StorageError } from './error.ts'
import { makeDirectory, type Durability } from './directory.ts'
import {
  canonicalSoFar,
  checkLinks,
  Directories,
  type FamilyBase,
  familyDirectory,
  isAtOrBelow,
} from './family-rules.ts'
import type { Lock } from './lock.ts'
import { type FamilyPlace, namedTree, type NamedPlaces, pathsOf } from './named-place.ts'
import { segmentsOf } from './paths.ts'
import { type Registered, Registry, type RegistryFormat } from './registry.ts'
import type { GrantedPlace } from './tree.ts'

/** The places of a family at one moment. */
interface Members {
  readonly registered: ReadonlyMap<string, Registered>
  /** The directories whose paths are possible. */
  readonly directories: Directories
}

/** A family: a group of named places, which a registry or the embedding program lists. */
export class Family {
  readonly #place: FamilyPlace
  readonly #others: Directories
  readonly #registry: Registry | undefined
  /** The places that were listed last. */
  #members: { readonly registered: ReadonlyMap<string, Registered>; readonly members: Members } | undefined

  /** `all` are the granted places, this family among them. */
  constructor(place: FamilyPlace, all: NamedPlaces, format: RegistryFormat) {
    this.#place = place
    this.#others = new Directories()
    for (const other of all.filter(({ label }) => label !== place.label))
      for (const path of pathsOf(other)) this.#others.add(path, other.label)
    const { registry } = place
    if (registry === undefined) return
    this.#registry = new Registry(registry, format)
    this.#others.add(join(registry.path, registry.file), registry.location)
  }

  /** The names of all places, also of those that cannot be opened, in byte order. */
  names(): string[] {
    const names = [...this.#current().registered.keys()]
    return names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  }

  /**
   * The place with a name. Throws `not-found` if there is none, or if a registry lists it and its directory is missing.
   * Throws `not-granted` if it cannot be used or its path is refused, and `invalid-path` if the name is empty or has a `/`.
   */
  tree(name: string): GrantedPlace {
    if (name === '') {
      const message = `\`${this.#place.label}\` has several places: give the name of one`
      throw new StorageError('invalid-path', message)
    }
    checkName(name)
    const { directory, exists } = this.#directory(this.#current(), name)
    // It may be on a disk that is not there now, so a call does not make it.
    if (!exists && this.#registry !== undefined) {
      const message = `the directory of \`${name}\` is missing: bring \`${directory}\` back, or register another`
      throw new StorageError('not-found', message)
    }
    return this.#treeAt(directory)
  }

  /** The path of the lock of a place that `create` makes. */
  lockOfNew(name: string): string {
    checkName(name)
    const { anchor, segments } = this.#treeAt(this.#newDirectory(name)).lock
    return join(anchor, ...segments)
  }

  /** Makes a place below the data directory, and registers it. `acquire` takes the lock of the registry. */
  create(name: string, durability: Durability, acquire: (lock: GrantedPlace['lock']) => Lock): void {
    const registry = this.#requireRegistry()
    const path = this.#newDirectory(name)
    const lock = acquire(registry.lock)
    try {
      const { text, version, registered } = registry.read()
      const twin = [...registered.keys()].find((other) => other.toLowerCase() === name.toLowerCase())
      if (twin !== undefined) {
        throw new StorageError('already-exists', `\`${twin}\` is registered already: choose another name`)
      }
      const edited = registry.edit(text, { add: { name, path } })
      const after = membersOf(new Map([...registered, [name, { path }]]), this.#place)
      const { directory } = this.#directory(after, name)
      makeDirectory({ ...this.#treeAt(directory).documents, isPrivate: true }, durability)
      registry.write(edited, version, durability, () => lock.check())
    } finally {
      lock.release()
    }
  }

  /** Throws if a place of the embedding program is refused. */
  check(): void {
    const members = this.#current()
    for (const name of members.registered.keys()) {
      checkName(name)
      this.#directory(members, name)
    }
  }

  #requireRegistry(): Registry {
    if (this.#registry !== undefined) return this.#registry
    const message = `the places of \`${this.#place.label}\` are chosen by the program that embeds this host: add them there`
    throw new StorageError('not-granted', message)
  }

  #newDirectory(name: string): string {
    this.#requireRegistry()
    const { dataDirectory, label } = this.#place
    if (dataDirectory !== undefined) return join(dataDirectory, label, name)
    throw new StorageError('not-granted', 'there is no data directory for new places: set one, or register a path')
  }

  #current(): Members {
    const registered = this.#registry?.read().registered ?? this.#fixed
    if (this.#members?.registered !== registered)
      this.#members = { registered, members: membersOf(registered, this.#place) }
    return this.#members.members
  }

  get #fixed(): ReadonlyMap<string, Registered> {
    return (
      this.#members?.registered ??
      new Map(Object.entries(this.#place.places ?? {}).map(([name, path]) => [name, { path }]))
    )
  }

  /** The directory of a place, after all checks, and whether it exists. */
  #directory({ registered, directories }: Members, name: string): { directory: string; exists: boolean } {
    const place = registered.get(name)
    if (place === undefined)
      throw new StorageError('not-found', `there is no place \`${name}\` in \`${this.#place.label}\``)
    if (place.unusable !== undefined) throw new StorageError('not-granted', `cannot use \`${name}\`: ${place.unusable}`)
    const refused = (reason: string) =>
      new StorageError('not-granted', `cannot use \`${name}\` at \`${place.path}\`: ${reason}`)
    const meant = familyDirectory(place.path, this.#place)
    if ('reason' in meant) throw refused(meant.reason)
    const reason = directories.meeting(meant.directory, name) ?? this.#others.meeting(meant.directory)
    if (reason !== undefined) throw refused(reason)
    try {
      return { directory: meant.directory, exists: checkLinks(meant.directory) }
    } catch (error) {
      throw error instanceof StorageError && error.code === 'not-granted' ? refused(error.message) : error
    }
  }

  #treeAt(directory: string): GrantedPlace {
    const { dataDirectory, label, databases } = this.#place
    const isPrivate = dataDirectory !== undefined && isAtOrBelow(directory, dataDirectory)
    const tree = namedTree({ label, path: directory, location: directory, isPrivate, databases })
    return { ...tree, lock: { ...tree.lock, isHidden: true } }
  }
}

function membersOf(registered: ReadonlyMap<string, Registered>, base: FamilyBase): Members {
  const directories = new Directories()
  for (const [name, { path, unusable }] of registered) {
    if (unusable !== undefined) continue
    const meant = familyDirectory(path, base)
    if ('directory' in meant) directories.add(meant.directory, name)
  }
  return { registered, directories }
}

function checkName(name: string): void {
  if (segmentsOf(name).length === 1) return
  throw new StorageError('invalid-path', `\`${name}\` is no name of a place: leave the \`/\` out`)
}

/** Follows the symbolic links of both directories. */
export function familyBase(home: string | undefined, dataDirectory: string | undefined): FamilyBase {
  return {
    home: home !== undefined && isAbsolute(home) ? canonicalSoFar(home) : undefined,
    dataDirectory: dataDirectory === undefined ? undefined : canonicalSoFar(dataDirectory),
  }
}
