import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { PlaceDescription, Setting, Toolset } from './description.ts'
import { invalidOption, unknownOption } from './errors.ts'
import type { ToolsetSettings } from './generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import { grantDirectory, type NamedPlaces } from './storage/named-place.ts'

/** The values that were set, by toolset and by name. Each matches its schema. */
type Values = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/** Checks the toolsets' settings. Returns their places, and the values that the component receives. */
export function resolveToolsetSettings(
  toolsets: readonly Toolset[],
  mounted: readonly Toolset[],
  given: unknown,
): { places: NamedPlaces; values: ToolsetSettings[] } {
  const checked = checkValues(toolsets, given)
  return { places: placesOf(toolsets, mounted, checked), values: componentValues(toolsets, checked) }
}

function checkValues(toolsets: readonly Toolset[], given: unknown = {}): Values {
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
    return [name, checkValue(option, setting, value)] as const
  })
  return Object.fromEntries(values)
}

function namesOf(all: readonly { readonly name: string }[]): string[] {
  return all.map(({ name }) => name)
}

function entriesOf(object: unknown, option: string): [string, unknown][] {
  if (typeof object !== 'object' || object === null) throw invalidOption(option, 'is not an object')
  return Object.entries(object).filter(([, value]) => value !== undefined)
}

/** The value if it matches the setting's schema. A path is made absolute. */
function checkValue(option: string, { schema, is_path }: Setting, value: unknown): unknown {
  const violation = violationOf(value, schema)
  if (violation !== undefined) throw invalidOption(option, violation)
  if (!is_path) return value
  const path = absolutePath(value as string)
  if (path === undefined) throw invalidOption(option, 'is neither an absolute path nor one that begins with `~/`')
  return path
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

/** The path with `~/` replaced by the home directory; undefined if it is not absolute. */
function absolutePath(path: string): string | undefined {
  const expanded = path.startsWith('~/') ? join(homedir(), path.slice(2)) : path
  return isAbsolute(expanded) ? expanded : undefined
}

/** Grants each place whose setting is set. Other places of mounted toolsets are granted at their default paths. */
function placesOf(toolsets: readonly Toolset[], mounted: readonly Toolset[], values: Values): NamedPlaces {
  const grant = (toolset: Toolset, { label, setting, ...place }: PlaceDescription) => {
    const { missing, is_private: isPrivate } = place
    const configured = setting === undefined ? undefined : values.get(toolset.name)?.[setting]
    const byDefault = mounted.includes(toolset) ? absolutePath(place.default) : undefined
    const directory = (configured as string | undefined) ?? byDefault
    if (place.kind !== 'directory' || directory === undefined) return { label, missing }
    const databases = place.databases.map(({ name }) => name)
    try {
      return { label, ...grantDirectory(directory), isPrivate, databases }
    } catch (error) {
      const option = setting === undefined ? 'toolsets' : `settings.${toolset.name}.${setting}`
      throw invalidOption(option, `cannot be granted: ${(error as Error).message}`, error)
    }
  }
  return toolsets.flatMap((toolset) => toolset.places.map((place) => grant(toolset, place)))
}

/** The settings that the component receives. The paths of places stay in the host. */
function componentValues(toolsets: readonly Toolset[], values: Values): ToolsetSettings[] {
  return toolsets.flatMap(({ name, places }) => {
    const isPlacePath = (setting: string) => places.some((place) => place.setting === setting)
    const own = Object.entries(values.get(name) ?? {}).filter(([setting]) => !isPlacePath(setting))
    return own.length > 0 ? [{ toolset: name, values: JSON.stringify(Object.fromEntries(own)) }] : []
  })
}
