import { existsSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { embedded } from '#embedded'
import { homeDirectory, pathMistake } from '#user-paths'
import type { MemoryOptions } from 'agent-memory'

/** The command line cannot be understood. */
export class UsageError extends Error {}

/** How to get the native program. */
export const remedy = 'run npm without `--omit=optional`, or `cargo install agent-memory-host`'

/** An option of the command line. */
interface Flag {
  readonly name: string
  readonly isBoolean?: boolean
  readonly isList?: boolean
  /** Its variables, besides `AGENT_MEMORY_` and its name. */
  readonly environment?: readonly string[]
}

const common: readonly Flag[] = [
  { name: 'toolset', isList: true },
  { name: 'allow', isList: true },
  { name: 'data-dir' },
  { name: 'time-zone' },
  { name: 'utc-offset' },
  { name: 'durability' },
  { name: 'lock-wait' },
  // This option has no effect: WebAssembly writes no log.
  { name: 'log-level' },
]

/** A setting as the description has it for a command line. */
interface SettingFlag {
  readonly toolset: string
  readonly name: string
  readonly flag: string
  readonly environment: readonly string[]
  readonly schema: { readonly type?: string }
  readonly is_path: boolean
}

const settings = embedded.description.toolsets.flatMap(({ name: toolset, settings }) =>
  settings.map((setting) => ({ toolset, ...setting }) as object as SettingFlag),
)

const supported: readonly Flag[] = [
  ...common,
  ...settings.map(({ flag, environment, schema }) => {
    return { name: flag, environment, isBoolean: schema.type === 'boolean' }
  }),
]

/** The names of the options of `serve`. */
export const optionNames = supported.map(({ name }) => name)

/**
 * The options of the native program whose variables must not be ignored. Its other options have no variable, or one
 * without an effect of its own.
 */
const nativeOnly = [
  'agent-from',
  'database-url',
  'database-url-file',
  'embedder',
  'openai-url',
  'anthropic-model',
  'fixed-clock',
  'fixed-random',
]

const flags: readonly Flag[] = [...supported, ...nativeOnly.map((name) => ({ name }))]

/** The options of a memory that a command line and the environment name, as the native program understands them. */
export function memoryOptions(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  directory: string,
): MemoryOptions {
  const values = valuesOf(fromArguments(args), fromEnvironment(environment))
  const missed = nativeOnly.map((name) => values[name]).find((value) => value !== undefined)
  if (missed) throw new UsageError(`\`${missed.source}\` needs the native program: ${remedy}, or leave it out`)
  const text = (name: string) => values[name]?.texts[0]
  const dataDir = values['data-dir']
  const { 'utc-offset': offset, 'lock-wait': lockWait } = values
  const allow = allowed(values.allow, directory)
  return {
    allow: [...new Set([...allow, ...enclosing(directory), ...enclosing(environment.CLAUDE_PROJECT_DIR)])],
    ...defined('toolsets', values.toolset && toolsetsOf(values.toolset)),
    ...defined('dataDir', dataDir && pathOf(dataDir, dataDir.texts[0]!, directory)),
    ...defined('timeZone', text('time-zone')),
    ...defined('durability', text('durability') as MemoryOptions['durability']),
    ...(offset && { utcOffset: minutes(offset) }),
    ...(lockWait && { lockWait: milliseconds(lockWait) }),
    settings: settingsOf(values, directory),
  }
}

/** The texts that an option was given, and the option or the variable that had them. */
interface Value {
  readonly source: string
  readonly texts: readonly string[]
}

type Values = Readonly<Record<string, Value | undefined>>

const zones = ['time-zone', 'utc-offset']

/** An option beats its variable. An option for the zone also beats the variable of the other one. */
function valuesOf(given: Values, variables: Values): Values {
  const isZoneGiven = zones.some((name) => given[name] !== undefined)
  const counting = Object.entries(variables).filter(([name]) => !(isZoneGiven && zones.includes(name)))
  return { ...Object.fromEntries(counting), ...given }
}

/** A blank option counts as not set. */
function fromArguments(args: readonly string[]): Values {
  const options = Object.fromEntries(
    flags.map(({ name, isBoolean }) => [name, { type: isBoolean ? 'boolean' : 'string', multiple: true } as const]),
  )
  const given = Object.entries(parsed(joinedOffset(args), options)).map(([name, given]) => {
    const texts = [given].flat().map(String)
    const isList = flags.find((flag) => flag.name === name)?.isList
    if (texts.length > 1 && !isList) throw new UsageError(`\`--${name}\` is given several times: give it once`)
    return [name, { source: `--${name}`, texts: texts.filter((text) => text.trim() !== '') }] as const
  })
  return Object.fromEntries(given.filter(([, { texts }]) => texts.length > 0))
}

/** `parseArgs` takes a value that begins with `-` only behind a `=`. */
function joinedOffset(args: readonly string[]): string[] {
  const at = args.indexOf('--utc-offset')
  return at === -1 ? [...args] : args.toSpliced(at, 2, args.slice(at, at + 2).join('='))
}

function parsed(args: string[], options: NonNullable<Parameters<typeof parseArgs>[0]>['options']) {
  try {
    return parseArgs({ args, options: options! }).values
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const more = code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? `: if the native program has it, ${remedy}` : ''
    throw new UsageError(`${message.split('. ')[0]}${more}`)
  }
}

function fromEnvironment(environment: NodeJS.ProcessEnv): Values {
  const found = flags.flatMap(({ name, environment: others = [] }) => {
    const variables = [`AGENT_MEMORY_${name.toUpperCase().replaceAll('-', '_')}`, ...others]
    const source = variables.find((variable) => isSet(environment[variable]))
    return source === undefined ? [] : [[name, { source, texts: [environment[source]!] }] as const]
  })
  return Object.fromEntries(found)
}

/** A variable counts as not set if it is blank, or one `${...}` that a client has not expanded. */
function isSet(text: string | undefined): boolean {
  return text !== undefined && !/^(\$\{[^]*\})?$/.test(text.trim())
}

function toolsetsOf(value: Value): string[] {
  const names = value.texts.flatMap((text) => text.split(',')).map((name) => name.trim())
  const toolsets = names.filter((name) => name !== '')
  if (toolsets.length === 0) throw wrong(value, value.texts[0]!, 'not a list of toolset names')
  return toolsets
}

/** The directories of `--allow`, or of its variable, which separates them as `PATH` does. */
function allowed(value: Value | undefined, directory: string): string[] {
  if (value === undefined) return []
  const paths = value.texts.map((text) => pathOf(value, text, directory))
  if (value.source === '--allow') return paths
  const parts = value.texts[0]!.split(delimiter).filter(isSet)
  return parts.map((text) => pathOf(value, text, directory))
}

/** The absolute path that a text names. */
function pathOf(value: Value, text: string, directory: string): string {
  // The URL may have a password, so it is not shown.
  if (/^\s*postgres(ql)?:\/\//i.test(text))
    throw new UsageError(`\`${value.source}\` takes a path, and not the URL of a database`)
  const mistake = pathMistake(text)
  if (mistake !== undefined) throw new UsageError(`\`${value.source}\` is \`${text}\`, which ${mistake}`)
  return resolve(
    directory,
    text.replace(/^~(?=\/|$)/, () => homeDirectory() ?? '~'),
  )
}

function settingsOf(values: Values, directory: string): object {
  const bySetting = settings.flatMap((setting) => {
    const value = values[setting.flag]
    return value === undefined ? [] : [[setting.toolset, setting.name, settingOf(setting, value, directory)] as const]
  })
  const byToolset = Map.groupBy(bySetting, ([toolset]) => toolset)
  return Object.fromEntries(
    [...byToolset].map(([toolset, those]) => [toolset, Object.fromEntries(those.map(([, ...entry]) => entry))]),
  )
}

function settingOf({ schema, is_path }: SettingFlag, value: Value, directory: string): unknown {
  const text = value.texts[0]!
  if (is_path) return pathOf(value, text, directory)
  if (schema.type === 'integer') {
    if (!/^\+?\d+$/.test(text)) throw wrong(value, text, 'not a whole number')
    return Number(text)
  }
  if (schema.type !== 'boolean') return text
  if (!/^(true|false|1|0)$/.test(text)) throw wrong(value, text, 'not `true` or `false`')
  return text === 'true' || text === '1'
}

function wrong({ source }: Value, text: string, what: string): UsageError {
  return new UsageError(`\`${source}\` is \`${text}\`, which is ${what}`)
}

/** The repository around a directory. The home directory and the root are granted by `--allow` only. */
function enclosing(directory: string | undefined): string[] {
  for (let at = directory && resolve(directory); at && at !== dirname(at) && at !== homeDirectory(); at = dirname(at))
    if (existsSync(join(at, '.git'))) return [at]
  return []
}

function minutes(offset: Value): number {
  const text = offset.texts[0]!
  const [, sign, hours, rest] = /^([+-])([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  if (sign === undefined) throw wrong(offset, text, 'not an offset such as `+05:30`')
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(rest))
}

const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

function milliseconds(duration: Value): number {
  const text = duration.texts[0]!
  const [, number, unit] = /^(\d+)(ms|s|m|h)$/.exec(text) ?? []
  if (number === undefined) throw wrong(duration, text, 'not a duration such as `5s`')
  return Number(number) * units[unit!]!
}

function defined<Name extends string, Value>(name: Name, value: Value | undefined) {
  return (value === undefined ? {} : { [name]: value }) as { [name in Name]?: Value }
}
