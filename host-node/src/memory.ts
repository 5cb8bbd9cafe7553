import { MemoryCallError, MemoryOpenError } from './errors.ts'
import type { Tools } from './generated/tools.ts'
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
export type Outcome<Result = unknown> = ({ isError: false; result: Result } | { isError: true; error: ToolError }) & {
  /** The URIs of the resources that the call changed. */
  changed: string[]
  /** Work that is wanted but need not be waited for. */
  followUps: { id: string; kind: string; payload: unknown }[]
}

/** The toolset's error; its further fields depend on the toolset. */
export interface ToolError {
  readonly error: unknown
  readonly message?: string
  readonly [field: string]: unknown
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

/** An open memory. */
export interface Memory extends AsyncDisposable {
  /** In the order that users should see. */
  readonly tools: readonly Tool[]
  /**
   * Runs a tool. Calls that may change something take their turns in the order in which they were made.
   *
   * Rejects with a `MemoryCallError` where there is no outcome.
   */
  call<Name extends string>(name: Name, input: Input<Name>): Promise<Outcome<Output<Name>>>
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
  const { grants, durability, patience, storageCalls } = settings
  const component = new URL('component.js', directory).href
  const modules = await compileModules(directory, settings.memoryLimit).catch((error) => {
    throw new MemoryOpenError('component', `the component cannot be loaded: ${error.message}`, error)
  })
  const pool = new WorkerPool(
    { component, modules, grants, durability, patience, storageCalls },
    settings.workers,
    settings.guestTime,
  )
  try {
    return new OpenMemory(settings, pool, await listTools(pool, settings.toolbox))
  } catch (error) {
    await pool.close()
    throw error
  }
}

async function listTools(pool: WorkerPool, settings: string): Promise<Tool[]> {
  const order = new WriterOrder(0)
  const place = order.enter()
  const answer = await pool
    .run({ request: { kind: 'list-tools', settings }, onAsk: (tree) => order.ask(place, tree), first: false })
    .catch((error) => ({ kind: 'ended' as const, message: error.message }))
  if (answer.kind === 'tools') return JSON.parse(answer.tools)
  if (answer.kind === 'failure') throw new MemoryOpenError('invalid-option', answer.message)
  throw new MemoryOpenError(
    'component',
    `the component cannot list its tools: ${'message' in answer ? answer.message : answer.kind}`,
  )
}

class OpenMemory implements Memory {
  readonly tools: readonly Tool[]
  readonly #settings: Settings
  readonly #pool: WorkerPool
  readonly #order: WriterOrder
  readonly #reading: Set<string>
  readonly #pending = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor(settings: Settings, pool: WorkerPool, tools: Tool[]) {
    this.tools = tools
    this.#settings = settings
    this.#pool = pool
    this.#order = new WriterOrder(settings.patience.inAll)
    this.#reading = new Set(tools.filter((tool) => tool.annotations.readOnlyHint).map((tool) => tool.name))
  }

  async call<Name extends string>(name: Name, input: Input<Name>): Promise<Outcome<Output<Name>>> {
    if (this.#closing) throw new MemoryCallError('closed', 'the memory is closed; open another')
    const running = this.#run(name, textOf(input))
    this.#pending.add(running)
    try {
      return outcomeOf(await running) as Outcome<Output<Name>>
    } finally {
      this.#pending.delete(running)
    }
  }

  close(): Promise<void> {
    return (this.#closing ??= Promise.allSettled(this.#pending).then(() => this.#pool.close()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Up to the first `await` this is the call's arrival: its number, its clock and its place are taken in order. */
  async #run(name: string, input: string): Promise<Answer> {
    const context = `{"settings":${this.#settings.toolbox},${this.#settings.arrive()}}`
    let place: Place | undefined = this.#reading.has(name) ? undefined : this.#order.enter()
    // A tool that says it only reads has no place, and gets the last one should it want a lock after all.
    const onAsk = (tree: string) => this.#order.ask((place ??= this.#order.enter()), tree)
    try {
      for (let first = false; ; first = true) {
        const request = { kind: 'call-tool' as const, name, arguments: input, context, askedAt: place?.askedAt }
        const answer = await this.#pool.run({ request, onAsk, first })
        if (answer.kind !== 'deferred') return answer
        await this.#order.turn(place!)
      }
    } finally {
      if (place) this.#order.leave(place)
    }
  }
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
      return isError
        ? { isError, error: parse(result) as ToolError, ...rest }
        : { isError, result: parse(result), ...rest }
    }
    case 'failure':
      throw new MemoryCallError(answer.code, answer.message)
    case 'ended':
      throw new MemoryCallError(answer.reason, `the component ended: ${answer.message}`)
    default:
      throw new MemoryCallError('trap', `the worker answered with \`${answer.kind}\``)
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new MemoryCallError('trap', 'the component answered with something that is not JSON')
  }
}
