import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { PlaceDescription, Setting, Toolset } from './description.ts'
import { invalidOption } from './errors.ts'
import type { ToolsetSettings } from './generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import { grantDirectory, type NamedPlaces } from './storage/named-place.ts'

/** By toolset and by name: the values that were set, each of which its schema accepts. */
type Values = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/** What is set of the toolsets' own settings: where their places are, and what the component is told. */
export function settleToolsets(
  toolsets: readonly Toolset[],
  mounted: readonly Toolset[],
  given: unknown,
): { places: NamedPlaces; ofToolsets: ToolsetSettings[] } {
  const values = valuesOf(toolsets, given)
  return { places: placesOf(toolsets, mounted, values), ofToolsets: ofToolsets(toolsets, values) }
}

function valuesOf(toolsets: readonly Toolset[], given: unknown = {}): Values {
  const ofToolset = (name: string, toolset: Toolset | undefined, values: unknown) => {
    if (toolset === undefined) throw unknown(`settings.${name}`, toolsets)
    const read = entriesOf(values, `settings.${name}`).map(([each, value]) => {
      const option = `settings.${name}.${each}`
      const setting = toolset.settings.find((setting) => setting.name === each)
      if (setting === undefined) throw unknown(option, toolset.settings)
      return [each, checked(option, setting, value)] as const
    })
    return [name, Object.fromEntries(read)] as const
  }
  return new Map(
    entriesOf(given, 'settings').map(([name, values]) =>
      ofToolset(
        name,
        toolsets.find((toolset) => toolset.name === name),
        values,
      ),
    ),
  )
}

function entriesOf(object: unknown, option: string): [string, unknown][] {
  if (typeof object !== 'object' || object === null) throw invalidOption(option, 'is not an object')
  return Object.entries(object).filter(([, value]) => value !== undefined)
}

function unknown(option: string, known: readonly { readonly name: string }[]): Error {
  return invalidOption(option, `does not exist; there are ${known.map(({ name }) => `\`${name}\``).join(', ')}`)
}

/** The value, where the setting takes it; a path is absolute then. */
function checked(option: string, { schema, is_path }: Setting, value: unknown): unknown {
  const objection = objectionTo(value, schema)
  if (objection !== undefined) throw invalidOption(option, objection)
  if (!is_path) return value
  const path = absolute(value as string)
  if (path === undefined) throw invalidOption(option, 'is neither an absolute path nor one that begins with `~/`')
  return path
}

function objectionTo(value: unknown, { type, enum: words, minimum, maximum, minLength }: Setting['schema']) {
  if (words && !words.includes(value)) return `is none of ${words.map((word) => `\`${word}\``).join(', ')}`
  if (type === 'boolean' && typeof value !== 'boolean') return 'is neither `true` nor `false`'
  if (type === 'string' && typeof value !== 'string') return 'is not a string'
  if (type === 'string' && (value as string).length < (minLength ?? 0)) return 'is too short'
  if (type === 'integer' && !Number.isSafeInteger(value)) return 'is not a whole number'
  if (minimum !== undefined && (value as number) < minimum) return `is less than ${minimum}`
  if (maximum !== undefined && (value as number) > maximum) return `is more than ${maximum}`
  return undefined
}

/** The path below the home directory where it begins with `~/`; undefined where it is not absolute. */
function absolute(path: string): string | undefined {
  const whole = path.startsWith('~/') ? join(homedir(), path.slice(2)) : path
  return isAbsolute(whole) ? whole : undefined
}

/** A place is granted where a setting says where it is, and by default where its toolset is mounted. */
function placesOf(toolsets: readonly Toolset[], mounted: readonly Toolset[], values: Values): NamedPlaces {
  const granted = (toolset: Toolset, { label, setting, ...place }: PlaceDescription) => {
    const { missing, is_private: isPrivate } = place
    const chosen = setting === undefined ? undefined : values.get(toolset.name)?.[setting]
    const byDefault = mounted.includes(toolset) ? absolute(place.default) : undefined
    const directory = (chosen as string | undefined) ?? byDefault
    if (place.kind !== 'directory' || directory === undefined) return { label, missing }
    const databases = place.databases.map(({ name }) => name)
    try {
      return { label, ...grantDirectory(directory), isPrivate, databases }
    } catch (error) {
      const option = setting === undefined ? 'toolsets' : `settings.${toolset.name}.${setting}`
      throw invalidOption(option, `cannot be granted: ${(error as Error).message}`, error)
    }
  }
  return toolsets.flatMap((toolset) => toolset.places.map((place) => granted(toolset, place)))
}

/** The component is told what was set. Where places are is the host's matter alone. */
function ofToolsets(toolsets: readonly Toolset[], values: Values): ToolsetSettings[] {
  return toolsets.flatMap(({ name, places }) => {
    const isOfPlace = (setting: string) => places.some((place) => place.setting === setting)
    const own = Object.entries(values.get(name) ?? {}).filter(([setting]) => !isOfPlace(setting))
    return own.length > 0 ? [{ toolset: name, values: JSON.stringify(Object.fromEntries(own)) }] : []
  })
}
