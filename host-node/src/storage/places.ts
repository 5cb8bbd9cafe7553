import { StorageError } from './error.ts'
import { Family, familyBase } from './family.ts'
import {
  type FamilyPlace,
  grantDirectory,
  grantFile,
  type NamedPlace,
  type NamedPlaces,
  requireApart,
  type WantedPlace,
} from './named-place.ts'
import type { RegistryFormat } from './registry.ts'

/**
 * Grants a place. `others` may contain a place with the same label, which is ignored.
 *
 * Throws `invalid-path` if something of another kind is at the path, if the path is not possible, or if the place would
 * contain or lie within another; `permission`.
 */
export function grantPlace(wanted: WantedPlace, others: NamedPlaces): NamedPlace | FamilyPlace {
  const { label, kind, path, isPrivate, databases, home, dataDirectory } = wanted
  const place =
    kind === 'family'
      ? { label, registry: grantFile(path), ...familyBase(home, dataDirectory), databases }
      : { label, ...(kind === 'file' ? grantFile(path) : grantDirectory(path)), isPrivate, databases }
  requireApart(place, others)
  return place
}

/**
 * Grants a place. If the file system refuses it as it is now, the place is kept as an occupied one, and `onRefused`
 * gets the error. Throws the errors of `grantPlace` that come from the path itself.
 */
export function grantOncePossible(
  wanted: WantedPlace,
  others: NamedPlaces,
  onRefused: (error: StorageError) => void,
): NamedPlaces[number] {
  try {
    return grantPlace(wanted, others)
  } catch (error) {
    if (!mayPass(error)) throw error
    const occupied = { label: wanted.label, wanted }
    requireApart(occupied, others)
    onRefused(error)
    return occupied
  }
}

/**
 * Whether an error of a grant comes from the file system as it is now, not from the path itself: the same grant may
 * succeed later.
 */
export function mayPass(error: unknown): error is StorageError {
  return error instanceof StorageError && error.detail !== undefined
}

/** The places of a worker thread, by their labels. */
export class Places {
  #all: NamedPlaces
  readonly #format: RegistryFormat
  readonly #families = new Map<string, Family>()

  constructor(all: NamedPlaces, format: RegistryFormat) {
    this.#all = all
    this.#format = format
  }

  /** The granted place with a label. Grants an occupied one if that is possible by now, and throws the error if not. */
  find(label: string): NamedPlace | FamilyPlace {
    const place = this.#all.find((place) => place.label === label)
    if (place === undefined) throw new StorageError('not-granted', `this host knows no place \`${label}\``)
    if ('missing' in place) throw new StorageError('not-granted', place.missing)
    if (!('wanted' in place)) return place
    const granted = grantPlace(place.wanted, this.#all)
    this.#all = this.#all.map((other) => (other === place ? granted : other))
    // Each has been made with the paths of all places.
    this.#families.clear()
    return granted
  }

  family(label: string): Family {
    const place = this.find(label)
    if ('path' in place) throw new StorageError('not-granted', `this host knows no family \`${label}\``)
    let family = this.#families.get(label)
    if (family === undefined) {
      family = new Family(place, this.#all, this.#format)
      this.#families.set(label, family)
    }
    return family
  }
}
