import { randomBytes } from 'node:crypto'
import { type Description, mountedToolsets, type Toolset } from './description.ts'
import type { Durability } from './durability.ts'
import type { Embedder } from './embedding.ts'
import { invalidOption, requireObject, unknownOption } from './errors.ts'
import type { Context } from './generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import type { CallContext } from './messages.ts'
import type { ComponentOptions } from './options.ts'
import type { LockTimeout } from './storage/lock.ts'
import type { Places } from './storage/places.ts'
import { checkValues, resolveToolsetSettings } from './toolset-settings.ts'
import { functionName, type Summarize } from './summaries.ts'
import { fixedZone, machineZone, namedZone, type SentZone } from './time-zone.ts'
import {
  absolutePath,
  defaultConfigurationDirectory,
  defaultDataDirectory,
  notAbsolute,
  pathMistake,
  requireMeant,
} from './user-paths.ts'

/** The checked options, with every default filled in. */
export interface ResolvedOptions {
  readonly mounted: readonly Toolset[]
  readonly durability: Durability
  readonly lockTimeout: LockTimeout
  readonly workers: number
  readonly memoryLimit: number
  readonly guestTime: number
  readonly guestTimeForPeople: number
  readonly storageCalls: number
  readonly statementTime: number
  readonly summarize: Summarize | undefined
  readonly embedder: Embedder | undefined
  /** Makes the context of the next call. */
  readonly nextContext: () => CallContext
}

const defaultLockWait = 5_000
const maxLockWait = 3_600_000
const minTotalWait = 30_000
/** The minimum limit of linear memory, in bytes. The component does not start with less. */
const minMemory = 16 * 1024 * 1024

/** The names of all options. Any other name, such as a misspelt one, is an error. */
const knownOptions: Record<keyof ComponentOptions, true> = {
  allow: true,
  toolsets: true,
  settings: true,
  dataDir: true,
  summarize: true,
  models: true,
  embed: true,
  embedModel: true,
  places: true,
  timeZone: true,
  utcOffset: true,
  durability: true,
  lockWait: true,
  clock: true,
  random: true,
  workers: true,
  limits: true,
}
const knownLimits: Record<keyof NonNullable<ComponentOptions['limits']>, true> = {
  memory: true,
  guestTime: true,
  guestTimeForPeople: true,
  storageCalls: true,
  statementTime: true,
}

/** Checks the options, and grants in `places` the directories and places that they name. */
export function resolveOptions(description: Description, options: ComponentOptions, places: Places): ResolvedOptions {
  if (typeof options === 'object' && options !== null) checkNames(options, knownOptions, '')
  if (options?.allow === undefined)
    throw invalidOption('allow', 'is missing: name the directories whose repositories may be used, or give `[]`')
  requireObject('limits', options.limits ?? {})
  checkNames(options.limits ?? {}, knownLimits, 'limits.')
  const { allow, lockWait = defaultLockWait, durability = 'full', workers = 4 } = options
  const limits = options.limits ?? {}
  const { summarize, models = [], embed, embedModel } = options
  if (!Array.isArray(allow)) throw invalidOption('allow', 'is not an array of directories')
  if (durability !== 'full' && durability !== 'relaxed')
    throw invalidOption('durability', 'is neither `full` nor `relaxed`')
  if (summarize !== undefined && typeof summarize !== 'function') throw invalidOption('summarize', 'is not a function')
  if (!Array.isArray(models) || models.some((name) => typeof name !== 'string' || name === ''))
    throw invalidOption('models', 'is not an array of names')
  if (embed !== undefined && typeof embed !== 'function') throw invalidOption('embed', 'is not a function')
  if (embedModel !== undefined && (typeof embedModel !== 'string' || embedModel === ''))
    throw invalidOption('embedModel', 'is not a name')
  if (embed !== undefined && embedModel === undefined)
    throw invalidOption('embedModel', 'is missing: name the model of `embed`')
  const atHead = integerOption('lockWait', lockWait, 0)
  if (atHead > maxLockWait) throw invalidOption('lockWait', `is more than ${maxLockWait} (an hour)`)
  const { toolsets } = description
  const checked = checkValues(toolsets, options.settings)
  const mounted = mountedToolsets(description, options.toolsets, checked)
  const dataDir = options.dataDir === undefined ? undefined : dataDirectoryOf(options.dataDir)
  const directories = {
    data: dataDir ?? defaultDataDirectory(),
    configuration: dataDir ?? defaultConfigurationDirectory(),
  }
  const values = resolveToolsetSettings(toolsets, mounted, checked, directories, options.places, places)
  for (const directory of allow) grant(directory, places)
  return {
    mounted,
    durability,
    lockTimeout: { atHead, total: Math.max(minTotalWait, atHead) },
    workers: integerOption('workers', workers, 1),
    memoryLimit: integerOption('limits.memory', limits.memory ?? 256 * 1024 * 1024, minMemory),
    guestTime: integerOption('limits.guestTime', limits.guestTime ?? 2_000, 1),
    guestTimeForPeople: integerOption('limits.guestTimeForPeople', limits.guestTimeForPeople ?? 60_000, 1),
    storageCalls: integerOption('limits.storageCalls', limits.storageCalls ?? 100_000, 1),
    statementTime: integerOption('limits.statementTime', limits.statementTime ?? 30_000, 1),
    summarize,
    embedder: embed === undefined ? undefined : { model: embedModel!, embed },
    nextContext: contextMaker(
      { toolsets: mounted.map(({ name }) => name), ofToolsets: values },
      summarize === undefined ? models : [functionName, ...models],
      options,
    ),
  }
}

function checkNames(options: object, known: object, prefix: string): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name))
  if (unknown !== undefined) throw unknownOption(prefix + unknown, Object.keys(known))
}

/** Returns a function that makes the context of the next call. It counts the calls, for the fixed clock and seed. */
function contextMaker(
  settings: Context['settings'],
  models: readonly string[],
  { clock: givenClock, random: givenRandom, timeZone, utcOffset, embedModel }: ComponentOptions,
): () => CallContext {
  const clock = givenClock ?? 'system'
  const random = givenRandom ?? 'system'
  if (clock !== 'system') checkParts('clock', clock, { now: true, step: true })
  if (random !== 'system') checkParts('random', random, { seed: true })
  const start = clock === 'system' ? 0 : startOption(clock.now)
  const step = clock === 'system' ? 0 : integerOption('clock.step', clock.step ?? 0, 0)
  const seed = random === 'system' ? 0n : seedOption(random.seed)
  if (utcOffset !== undefined && !(Number.isInteger(utcOffset) && Math.abs(utcOffset) < 1440)) {
    throw invalidOption('utcOffset', 'is not a whole number of minutes between -1,439 and 1,439')
  }
  if (timeZone !== undefined && utcOffset !== undefined)
    throw invalidOption('timeZone', 'is given beside `utcOffset`: leave one of them out')
  const fixed = utcOffset === undefined ? undefined : fixedZone(utcOffset)
  const zone = timeZone === undefined ? fixed : timeZoneOption(timeZone)

  let number = 0
  return () => {
    const k = number++
    const now = clock === 'system' ? new Date() : new Date(start + k * step)
    return {
      settings,
      now: BigInt(now.getTime()),
      zone: zone ?? machineZone(),
      seed: random === 'system' ? randomBytes(8).readBigUInt64BE() : BigInt.asUintN(64, seed + BigInt(k)),
      models: [...models],
      ...(embedModel !== undefined && { embedder: embedModel }),
    }
  }
}

/** Checks an option that is `system` or an object. */
function checkParts(option: string, value: object, known: object): void {
  if (typeof value !== 'object') throw invalidOption(option, 'is neither `system` nor an object')
  requireObject(option, value)
  checkNames(value, known, `${option}.`)
}

function startOption(now: unknown): number {
  const start = typeof now === 'string' || now instanceof Date ? new Date(now).getTime() : NaN
  if (Number.isNaN(start)) throw invalidOption('clock.now', 'is not a date: give a `Date`, or a text that it reads')
  return start
}

function dataDirectoryOf(path: unknown): string {
  if (typeof path === 'string') requireMeant('dataDir', path)
  const absolute = typeof path === 'string' ? absolutePath(path) : undefined
  if (absolute === undefined) throw invalidOption('dataDir', `is ${notAbsolute}`)
  return absolute
}

/** Grants a directory of repositories. */
function grant(directory: string, places: Places): void {
  if (typeof directory !== 'string')
    throw invalidOption('allow', 'has an item that is not a path: every item is a string')
  const mistake = pathMistake(directory)
  if (mistake !== undefined) throw invalidOption('allow', `has \`${directory}\`, which ${mistake}`)
  const absolute = absolutePath(directory)
  if (absolute === undefined) throw invalidOption('allow', `has \`${directory}\`, which is ${notAbsolute}`)
  try {
    places.run((files) => files.grantRepositories(absolute))
  } catch (error) {
    throw invalidOption('allow', (error as Error).message, error)
  }
}

function timeZoneOption(name: unknown): SentZone {
  const zone = typeof name === 'string' ? namedZone(name) : undefined
  if (zone === undefined) throw invalidOption('timeZone', 'is not the name of a time zone such as `America/New_York`')
  return zone
}

function seedOption(seed: number | bigint): bigint {
  if (typeof seed === 'bigint' || Number.isSafeInteger(seed)) return BigInt(seed)
  throw invalidOption('random.seed', 'is not a whole number')
}

function integerOption(option: string, value: number, min: number): number {
  if (!Number.isSafeInteger(value) || value < min)
    throw invalidOption(option, `is not a whole number of at least ${min}`)
  return value
}
