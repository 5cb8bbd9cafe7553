import { MemoryCallError, MemoryOpenError } from './errors.ts'
import type { Tools } from './generated/tools.ts'
import type { Request } from './messages.ts'
import { type MemoryOptions, settle, type Settings } from './options.ts'
import { type Place, WriterOrder } from './order.ts'
import { type Answer, WorkerPool } from './pool.ts'
import { compileModules } from './worker/component.ts'

export type { Tools }

/** The names of the tools of every toolset. */
export type ToolName = keyof Tools

/** What a tool takes; for a name known only at run time, any object. */
export type Input<Name extends string> = Name extends ToolName
  ? Tools[Name]['input']
  : string extends Name
    ? object
    : never

/** What a tool returns. */
export type Output<Name extends string> = Name extends ToolName ? Tools[Name]['output'] : unknown

/** What a tool answers. A refusal is an outcome too, so that a model can read it and correct itself. */
export type Outcome<Result = unknown> = (
  { isError: false; result: Result } | { isError: true; result: unknown; error: ToolError }
) & {
  /** The URIs of the resources that the call changed. */
  changed: string[]
  /** Work that is wanted but need not be waited for. */
  followUps: { id: string; kind: string; payload: unknown }[]
}

/** Why a tool refused. Toolsets write it in one of two shapes; give a model the outcome's `result`, which keeps it. */
export interface ToolError {
  /** Its kind, a word of the toolset: `InvalidSection`, `NOT_FOUND`. */
  readonly code: string
  /** For a model and a person: what was wrong, where, and what to do. */
  readonly message: string
}

/** A tool as the component describes it, ready to be given to a model. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  /** JSON Schema 2020-12. */
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly outputSchema: Readonly<Record<string, unknown>>
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
  /** Whom to offer it to. Both kinds can be called; one for a person is no business of a model's. */
  readonly audience: 'model' | 'person'
}

/** A resource as the component describes it. */
export interface Resource {
  readonly uri: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly mimeType: string
}

/** A kind of resources. */
export interface ResourceTemplate extends Omit<Resource, 'uri'> {
  /** A URI once its `{variables}` are filled in. */
  readonly uriTemplate: string
}

/** What a resource holds. */
export interface ResourceContents {
  readonly uri: string
  readonly mimeType: string
  readonly text: string
}

/** An open memory. */
export interface Memory extends AsyncDisposable {
  /** In the order that users should see. */
  readonly tools: readonly Tool[]
  readonly resources: readonly Resource[]
  readonly resourceTemplates: readonly ResourceTemplate[]
  /**
   * Runs a tool. Calls that may change something take their turns in the order in which they were made.
   *
   * Rejects with a `MemoryCallError` where there is no outcome.
   */
  call<Name extends string>(name: Name, input: Input<Name>): Promise<Outcome<Output<Name>>>
  /** Reads a resource. Rejects with a `MemoryCallError` where there is no outcome, as for a URI that is none. */
  readResource(uri: string): Promise<Outcome<ResourceContents[]>>
  /** Waits for the calls that were made, and ends the worker threads. Later calls are refused. */
  close(): Promise<void>
}

/** Opens a memory. Rejects with a `MemoryOpenError`. */
export function openMemory(options: MemoryOptions): Promise<Memory> {
  return openComponent(new URL('./generated/component/', import.meta.url), options)
}

/** As `openMemory`, with the component that jco wrote to a directory; its main file is `component.js`. */
export async function openComponent(directory: URL, options: MemoryOptions): Promise<Memory> {
  const settings = settle(options)
  const { grants, records, durability, patience, storageCalls } = settings
  const component = new URL('component.js', directory).href
  const modules = await compileModules(directory, settings.memoryLimit).catch((error) => {
    throw new MemoryOpenError('component', `the component cannot be loaded: ${error.message}`, error)
  })
  const pool = new WorkerPool(
    { component, modules, grants, records, durability, patience, storageCalls },
    settings.workers,
    { guestTime: settings.guestTime, statementTime: settings.statementTime },
  )
  try {
    return new OpenMemory(settings, pool, await list(pool, settings.toolbox))
  } catch (error) {
    await pool.close()
    throw error
  }
}

/** What is mounted. */
type Lists = Pick<Memory, 'tools' | 'resources' | 'resourceTemplates'>

async function list(pool: WorkerPool, settings: string): Promise<Lists> {
  const order = new WriterOrder(0)
  const place = order.enter()
  const answer = await pool
    .run({
      request: { kind: 'list', settings, context: `{"settings":${settings},${noCall}}` },
      onAsk: (lock, holds) => order.ask(place, lock, holds),
      first: false,
    })
    .catch((error) => ({ kind: 'ended' as const, message: error.message }))
  if (answer.kind === 'lists') {
    const { tools, resources, resourceTemplates } = answer
    return {
      tools: JSON.parse(tools),
      resources: JSON.parse(resources),
      resourceTemplates: JSON.parse(resourceTemplates),
    }
  }
  if (answer.kind === 'failure') throw new MemoryOpenError('invalid-option', answer.message)
  throw new MemoryOpenError(
    'component',
    `the component cannot list what it has: ${'message' in answer ? answer.message : answer.kind}`,
  )
}

/** What is listed depends on no call. */
const noCall = '"now":"1970-01-01T00:00:00.000Z","utc_offset_minutes":0,"seed":0'

class OpenMemory implements Memory {
  readonly tools: readonly Tool[]
  readonly resources: readonly Resource[]
  readonly resourceTemplates: readonly ResourceTemplate[]
  readonly #settings: Settings
  readonly #pool: WorkerPool
  readonly #order: WriterOrder
  readonly #reading: Set<string>
  readonly #pending = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor(settings: Settings, pool: WorkerPool, { tools, resources, resourceTemplates }: Lists) {
    this.tools = tools
    this.resources = resources
    this.resourceTemplates = resourceTemplates
    this.#settings = settings
    this.#pool = pool
    this.#order = new WriterOrder(settings.patience.inAll)
    this.#reading = new Set(tools.filter((tool) => tool.annotations.readOnlyHint).map((tool) => tool.name))
  }

  async call<Name extends string>(name: Name, input: Input<Name>): Promise<Outcome<Output<Name>>> {
    const outcome = await this.#receive(() => {
      const request = { kind: 'call-tool' as const, name: checked(name, 'name of a tool'), arguments: textOf(input) }
      return this.#run((context, askedAt) => ({ ...request, context, askedAt }), this.#reading.has(name))
    })
    return outcome as Outcome<Output<Name>>
  }

  async readResource(uri: string): Promise<Outcome<ResourceContents[]>> {
    const request = { kind: 'read-resource' as const, uri: checked(uri, 'URI of a resource') }
    const outcome = await this.#receive(() => this.#run((context) => ({ ...request, context }), true))
    return outcome as Outcome<ResourceContents[]>
  }

  close(): Promise<void> {
    return (this.#closing ??= Promise.allSettled(this.#pending).then(() => this.#pool.close()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #receive(run: () => Promise<Answer>): Promise<Outcome> {
    if (this.#closing) throw new MemoryCallError('closed', 'the memory is closed; open another')
    const running = run()
    this.#pending.add(running)
    try {
      return outcomeOf(await running)
    } finally {
      this.#pending.delete(running)
    }
  }

  /** Up to the first `await` this is the call's arrival: its number, its clock and its place are taken in order. */
  async #run(requestWith: (context: string, askedAt?: number) => Request, onlyReads: boolean): Promise<Answer> {
    const context = `{"settings":${this.#settings.toolbox},${this.#settings.arrive()}}`
    let place: Place | undefined = onlyReads ? undefined : this.#order.enter()
    // A tool that says it only reads has no place, and gets the last one should it want a lock after all.
    const onAsk = (lock: string, holds: readonly string[], after?: string) =>
      this.#order.ask((place ??= this.#order.enter()), lock, holds, after)
    try {
      for (let first = false; ; first = true) {
        const answer = await this.#pool.run({ request: requestWith(context, place?.askedAt), onAsk, first })
        if (answer.kind !== 'deferred') return answer
        await this.#order.turn(place!)
      }
    } finally {
      if (place) this.#order.leave(place)
    }
  }
}

/** Programs without types may give anything. */
function checked(text: string, what: string): string {
  if (typeof text === 'string') return text
  throw new MemoryCallError('invalid-request', `the ${what} is no string`)
}

function textOf(input: unknown): string {
  try {
    return JSON.stringify(input) ?? ''
  } catch (error) {
    throw new MemoryCallError('invalid-request', `the arguments cannot be written as JSON: ${(error as Error).message}`)
  }
}

function outcomeOf(answer: Answer): Outcome {
  switch (answer.kind) {
    case 'outcome': {
      const { result, isError, changed, followUps } = answer.outcome
      const rest = {
        changed,
        followUps: followUps.map(({ id, kind, payload }) => ({ id, kind, payload: parse(payload) })),
      }
      const read = parse(result)
      return isError
        ? { isError, result: read, error: errorOf(read, result), ...rest }
        : { isError, result: read, ...rest }
    }
    case 'failure':
      throw new MemoryCallError(answer.code, answer.message)
    case 'ended':
      throw new MemoryCallError(answer.reason, `the component ended: ${answer.message}`)
    default:
      throw new MemoryCallError('trap', `the worker answered with \`${answer.kind}\``)
  }
}

/** Reads `{"error": code, "message"}` or `{"error": {"code", "message"}}`. */
function errorOf(read: unknown, text: string): ToolError {
  const said = Object(read) as Record<string, unknown>
  const nested = said['error']
  const isNested = typeof nested === 'object' && nested !== null && !Array.isArray(nested)
  const { code, message } = isNested
    ? (nested as Record<string, unknown>)
    : { code: said['error'], message: said['message'] }
  return { code: typeof code === 'string' ? code : '', message: typeof message === 'string' ? message : text }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new MemoryCallError('trap', 'the component answered with something that is not JSON')
  }
}
