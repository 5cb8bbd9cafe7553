import { join } from 'node:path'
import type { PlaceDescription, Setting, SettingValues, Toolset } from './description.ts'
import { invalidOption, requireObject, unknownOption } from './errors.ts'
import type { ToolsetSettings } from './generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import type { Places, Wanted } from './storage/places.ts'
import { absolutePath, homeDirectory, notAbsolute, requireMeant } from './user-paths.ts'

/** The directories for default paths. A directory is undefined on a machine without a home directory. */
export interface DefaultDirectories {
  readonly data: string | undefined
  /** The directory for files that people edit. If the option `dataDir` is given, the data directory. */
  readonly configuration: string | undefined
}

/** The places of families that the program lists, by label and by name. */
type Members = Readonly<Record<string, Readonly<Record<string, string>>>>

/**
 * Grants the places of the toolsets by checked settings, and returns the values that the component receives. If one of
 * the directories is undefined, places whose default path is below it are not granted by default.
 */
export function resolveToolsetSettings(
  toolsets: readonly Toolset[],
  mounted: readonly Toolset[],
  checked: SettingValues,
  directories: DefaultDirectories,
  members: Members = {},
  places: Places,
): ToolsetSettings[] {
  checkMembers(toolsets, members)
  grantPlaces(toolsets, mounted, checked, directories, members, places)
  return componentValues(toolsets, checked)
}

function checkMembers(toolsets: readonly Toolset[], members: Members): void {
  const families = toolsets.flatMap(({ places }) => places.filter(({ kind }) => kind === 'family'))
  for (const [label, places] of entriesOf(members, 'places')) {
    if (!families.some((family) => family.label === label))
      throw unknownOption(
        `places.${label}`,
        families.map((family) => family.label),
      )
    for (const [name, path] of entriesOf(places, `places.${label}`)) {
      const option = `places.${label}.${name}`
      if (typeof path !== 'string') throw invalidOption(option, 'is not a path: write a string')
      requireMeant(option, path)
    }
  }
}

/** Checks the toolsets' settings. */
export function checkValues(toolsets: readonly Toolset[], given: unknown = {}): SettingValues {
  const values = entriesOf(given, 'settings').map(([name, settings]) => {
    const toolset = toolsets.find((toolset) => toolset.name === name)
    if (toolset === undefined) throw unknownOption(`settings.${name}`, namesOf(toolsets))
    return [name, checkToolset(toolset, settings)] as const
  })
  return new Map(values)
}

function checkToolset(toolset: Toolset, settings: unknown): Record<string, unknown> {
  const values = entriesOf(settings, `settings.${toolset.name}`).map(([name, value]) => {
    const option = `settings.${toolset.name}.${name}`
    const setting = toolset.settings.find((setting) => setting.name === name)
    if (setting === undefined) throw unknownOption(option, namesOf(toolset.settings))
    const isOfFile = toolset.places.some((place) => place.kind !== 'directory' && place.setting === name)
    return [name, checkValue(option, setting, value, isOfFile)] as const
  })
  return Object.fromEntries(values)
}

function namesOf(all: readonly { readonly name: string }[]): string[] {
  return all.map(({ name }) => name)
}

function entriesOf(object: unknown, option: string): [string, unknown][] {
  requireObject(option, object)
  return Object.entries(object).filter(([, value]) => value !== undefined)
}

/**
 * Returns the value if it matches the setting's schema. A path is made absolute; only the path of a
 * file may be relative.
 */
function checkValue(option: string, { schema, is_path }: Setting, value: unknown, isOfFile: boolean): unknown {
  const violation = violationOf(value, schema)
  if (violation !== undefined) throw invalidOption(option, violation)
  if (!is_path) return value
  requireMeant(option, value as string)
  const path = absolutePath(value as string)
  if (path !== undefined) return path
  if (!isOfFile) throw invalidOption(option, `is ${notAbsolute}`)
  return `${process.cwd()}/${value}`
}

function violationOf(value: unknown, { type, enum: words, minimum, maximum, minLength }: Setting['schema']) {
  if (words && !words.includes(value)) return `is none of ${words.map((word) => `\`${word}\``).join(', ')}`
  if (type === 'boolean' && typeof value !== 'boolean') return 'is neither `true` nor `false`'
  if (type === 'string' && typeof value !== 'string') return 'is not a string'
  if (type === 'string' && (value as string).length < (minLength ?? 0)) return 'is too short'
  if (type === 'integer' && !Number.isSafeInteger(value)) return 'is not a whole number'
  if (minimum !== undefined && (value as number) < minimum) return `is less than ${minimum}`
  if (maximum !== undefined && (value as number) > maximum) return `is more than ${maximum}`
  return undefined
}

/**
 * Grants each place whose setting has a value. Other places of mounted toolsets are granted at their default paths. If
 * the file system refuses a place now, calls that need the place fail until the file system no longer refuses it.
 */
function grantPlaces(
  toolsets: readonly Toolset[],
  mounted: readonly Toolset[],
  values: SettingValues,
  directories: DefaultDirectories,
  members: Members,
  places: Places,
): void {
  for (const toolset of toolsets) {
    for (const place of toolset.places) {
      const { label, kind, setting, missing } = place
      const configured = setting === undefined ? undefined : values.get(toolset.name)?.[setting]
      if (kind === 'family' && members[label] !== undefined) {
        if (configured !== undefined)
          throw invalidOption(`places.${label}`, `is given, and \`settings.${toolset.name}.${setting}\` too: give one`)
        grantPlace(`places.${label}`, {
          ...wantedPlace(place, '', directories),
          members: Object.entries(members[label]),
        })
        continue
      }
      const byDefault = mounted.includes(toolset) ? defaultPath(place.default, directories) : undefined
      const path = (configured as string | undefined) ?? byDefault
      if (path === undefined) {
        places.run((files) => files.know(label, missing))
        continue
      }
      const isInDataDirectory =
        configured === undefined &&
        [inDataDirectory, inConfiguration].some((prefix) => place.default.startsWith(prefix))
      const own = setting === undefined ? 'toolsets' : `settings.${toolset.name}.${setting}`
      const option = isInDataDirectory ? 'dataDir' : own
      grantPlace(option, wantedPlace(place, path, directories))
    }
  }

  function grantPlace(option: string, wanted: Wanted): void {
    let refused
    try {
      refused = places.run((files) => files.grantPlace(wanted))
    } catch (error) {
      throw invalidOption(option, `cannot be granted: ${(error as Error).message}`, error)
    }
    if (refused) warnOfRefused(option, refused)
  }
}

function wantedPlace(
  { label, kind, is_private, databases }: PlaceDescription,
  path: string,
  { data }: DefaultDirectories,
): Wanted {
  const home = homeDirectory()
  return {
    label,
    form: kind,
    path,
    isPrivate: is_private,
    databases: databases.map(({ name }) => name),
    ...(home !== undefined && { home }),
    ...(data !== undefined && { dataDirectory: data }),
  }
}

/** Warns the person who runs the program that a place cannot be granted now. */
function warnOfRefused(option: string, error: { readonly message: string }): void {
  const { message } = invalidOption(option, `cannot be granted now: ${error.message}`)
  console.warn(`agent-memory: ${message}; tools that need it fail until then`)
}

/** The prefix of a default path below the data directory. */
const inDataDirectory = 'data:'
/** The prefix of a default path below the configuration directory, for a file that people edit. */
const inConfiguration = 'config:'

/** A place's default path; undefined if it is below a directory that this machine does not have. */
function defaultPath(path: string, { data, configuration }: DefaultDirectories): string | undefined {
  const below = (directory: string | undefined, prefix: string) =>
    directory === undefined ? undefined : join(directory, path.slice(prefix.length))
  if (path.startsWith(inDataDirectory)) return below(data, inDataDirectory)
  if (path.startsWith(inConfiguration)) return below(configuration, inConfiguration)
  return absolutePath(path)
}

/** The settings that the component receives. The paths of places stay in the host. */
function componentValues(toolsets: readonly Toolset[], values: SettingValues): ToolsetSettings[] {
  return toolsets.flatMap(({ name, places }) => {
    const isPlacePath = (setting: string) => places.some((place) => place.setting === setting)
    const own = Object.entries(values.get(name) ?? {}).filter(([setting]) => !isPlacePath(setting))
    return own.length > 0 ? [{ toolset: name, values: JSON.stringify(Object.fromEntries(own)) }] : []
  })
}
