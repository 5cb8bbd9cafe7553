import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { embedded } from '#embedded'
import type { MemoryOptions } from 'agent-memory'

/** The command line cannot be understood. */
export class UsageError extends Error {}

/** An option of the command line. */
interface Flag {
  readonly name: string
  readonly isBoolean?: boolean
  readonly isList?: boolean
  /** Its variables, besides `AGENT_MEMORY_` and its name. */
  readonly environment?: readonly string[]
  /** What separates several values of a list. */
  readonly separator?: string
}

const common: readonly Flag[] = [
  { name: 'toolset', isList: true, separator: ',' },
  { name: 'allow', isList: true, separator: delimiter },
  { name: 'data-dir' },
  { name: 'time-zone' },
  { name: 'utc-offset' },
  { name: 'durability' },
  { name: 'lock-wait' },
]

/** A setting as the description has it for a command line. */
interface SettingFlag {
  readonly toolset: string
  readonly name: string
  readonly flag: string
  readonly environment: readonly string[]
  readonly schema: { readonly type?: string }
}

const settings = embedded.description.toolsets.flatMap(({ name: toolset, settings }) =>
  settings.map((setting) => ({ toolset, ...setting }) as object as SettingFlag),
)

const flags: readonly Flag[] = [
  ...common,
  ...settings.map(({ flag, environment, schema }) => {
    return { name: flag, environment, isBoolean: schema.type === 'boolean' }
  }),
]

/** Refuses what would be missed if it was ignored. */
function checkNativeOnly(args: readonly string[], environment: NodeJS.ProcessEnv): void {
  const variable = environment.AGENT_MEMORY_AGENT_FROM
  const isSet = variable !== undefined && variable.trim() !== '' && !variable.includes('${')
  if (!isSet && !args.some((arg) => /^--agent-from(=|$)/.test(arg))) return
  throw new UsageError(
    '`--agent-from` needs the native program, which finds the project: install the optional packages of npm, or leave it out',
  )
}

/** The options of a memory that a command line and the environment name, as the native program understands them. */
export function memoryOptions(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  directory: string,
): MemoryOptions {
  checkNativeOnly(args, environment)
  const values = { ...fromEnvironment(environment), ...fromArguments(args) }
  const text = (name: string) => values[name]?.at(-1)
  const allow = (values.allow ?? []).map((path) => expanded(path, directory))
  const [toolsets, offset, lockWait] = [values.toolset, text('utc-offset'), text('lock-wait')]
  return {
    allow: [...new Set([...allow, ...enclosing(directory), ...enclosing(environment.CLAUDE_PROJECT_DIR)])],
    ...(toolsets && { toolsets }),
    ...defined('dataDir', text('data-dir')),
    ...defined('timeZone', text('time-zone')),
    ...defined('durability', text('durability') as MemoryOptions['durability']),
    ...(offset && { utcOffset: minutes(offset) }),
    ...(lockWait && { lockWait: milliseconds(lockWait) }),
    settings: settingsOf(values),
  }
}

type Values = Readonly<Record<string, readonly string[]>>

function fromArguments(args: readonly string[]): Values {
  const options = Object.fromEntries(
    flags.map(({ name, isBoolean }) => [name, { type: isBoolean ? 'boolean' : 'string', multiple: true } as const]),
  )
  try {
    const { values } = parseArgs({ args: [...args], options })
    return Object.fromEntries(Object.entries(values).map(([name, given]) => [name, listOf(name, [given].flat())]))
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** An empty variable counts as not set, and so does one that a client has not expanded. */
function fromEnvironment(environment: NodeJS.ProcessEnv): Values {
  const found = flags.map(({ name, environment: others = [] }) => {
    const variables = [`AGENT_MEMORY_${name.toUpperCase().replaceAll('-', '_')}`, ...others]
    const text = variables.map((variable) => environment[variable]).find((text) => text && !text.includes('${'))
    return [name, text === undefined ? undefined : listOf(name, [text])] as const
  })
  return Object.fromEntries(found.filter((entry): entry is [string, string[]] => entry[1] !== undefined))
}

function listOf(name: string, given: readonly unknown[]): string[] {
  const flag = flags.find((flag) => flag.name === name)
  const texts = given.map(String)
  return flag?.separator === undefined ? texts : texts.flatMap((text) => text.split(flag.separator!))
}

function settingsOf(values: Values): object {
  const given = settings.filter(({ flag }) => values[flag] !== undefined)
  const bySetting = given.map(({ toolset, name, flag, schema }) => {
    const text = values[flag]!.at(-1)!
    const value = schema.type === 'integer' ? Number(text) : schema.type === 'boolean' ? text !== 'false' : text
    return [toolset, name, value] as const
  })
  const byToolset = Map.groupBy(bySetting, ([toolset]) => toolset)
  return Object.fromEntries(
    [...byToolset].map(([toolset, those]) => [toolset, Object.fromEntries(those.map(([, ...entry]) => entry))]),
  )
}

/** The repository around a directory. The home directory and the root are granted by `--allow` only. */
function enclosing(directory: string | undefined): string[] {
  for (let at = directory && resolve(directory); at && at !== dirname(at) && at !== homedir(); at = dirname(at))
    if (existsSync(join(at, '.git'))) return [at]
  return []
}

function expanded(path: string, directory: string): string {
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(directory, path)
}

function minutes(offset: string): number {
  const [, sign, hours, rest] = /^([+-])(\d\d):(\d\d)$/.exec(offset) ?? []
  if (sign === undefined) throw new UsageError(`\`--utc-offset ${offset}\` is not an offset such as \`+05:30\``)
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(rest))
}

const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

function milliseconds(duration: string): number {
  const [, number, unit] = /^(\d+)(ms|s|m|h)$/.exec(duration) ?? []
  if (number === undefined) throw new UsageError(`\`--lock-wait ${duration}\` is not a duration such as \`5s\``)
  return Number(number) * units[unit!]!
}

function defined<Name extends string, Value>(name: Name, value: Value | undefined) {
  return (value === undefined ? {} : { [name]: value }) as { [name in Name]?: Value }
}
