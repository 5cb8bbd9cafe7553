import { invalidOption, MemoryOpenError } from './errors.ts'

/** All that a component says of itself: `describe` in wit/toolbox. */
export interface Description {
  /** In the order that users should see. */
  readonly toolsets: readonly Toolset[]
}

export interface Toolset {
  readonly name: string
  /** Whether it is mounted where nobody says which are. */
  readonly default: boolean
  readonly settings: readonly Setting[]
  readonly places: readonly PlaceDescription[]
  readonly tools: readonly DescribedTool[]
  readonly resources: readonly Resource[]
  readonly resource_templates: readonly ResourceTemplate[]
}

export interface Setting {
  readonly name: string
  /** JSON Schema of a value. */
  readonly schema: SettingSchema
  readonly default?: unknown
  /** The default in words. */
  readonly default_text?: string
  readonly help: string
  readonly more?: string
  readonly is_path: boolean
}

export interface SettingSchema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
}

/** A place beside repositories in which a toolset keeps something. */
export interface PlaceDescription {
  readonly label: string
  readonly kind: 'directory' | 'file' | 'family'
  readonly is_private: boolean
  /** The setting that says where it is. */
  readonly setting?: string
  /** Where it is otherwise: below the home directory after `~/`. */
  readonly default: string
  readonly databases: readonly { readonly name: string }[]
  /** What a person is told where it is not granted. */
  readonly missing: string
}

export interface DescribedTool extends Tool {
  readonly qualified_name: string
  /** The toolsets that have another tool of that name. */
  readonly shared_with: readonly string[]
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

/** What is mounted, in the order that users should see. */
export interface Lists {
  readonly tools: readonly Tool[]
  readonly resources: readonly Resource[]
  readonly resourceTemplates: readonly ResourceTemplate[]
}

/** The toolsets of these names, where `all` stands for every one; without names, those that are mounted by default. */
export function mountedOf({ toolsets }: Description, names: readonly string[] | undefined): readonly Toolset[] {
  if (names === undefined) return toolsets.filter((toolset) => toolset.default)
  if (!Array.isArray(names)) throw invalidOption('toolsets', 'is not an array of names')
  const known = [...toolsets.map(({ name }) => name), 'all']
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    const list = known.map((name) => `\`${name}\``).join(', ')
    throw new MemoryOpenError('invalid-option', `no toolset \`${unknown}\`; there are ${list}`)
  }
  return toolsets.filter(({ name }) => names.includes(name) || names.includes('all'))
}

/** What a host lists of the mounted toolsets. A tool whose name another one has too is listed by its qualified name. */
export function listsOf(mounted: readonly Toolset[]): Lists {
  const isMounted = (name: string) => mounted.some((toolset) => toolset.name === name)
  const listed = ({ qualified_name, shared_with, ...tool }: DescribedTool): Tool =>
    shared_with.some(isMounted) ? { ...tool, name: qualified_name } : tool
  return {
    tools: mounted.flatMap(({ tools }) => tools.map(listed)),
    resources: mounted.flatMap(({ resources }) => resources),
    resourceTemplates: mounted.flatMap(({ resource_templates }) => resource_templates),
  }
}

/** The names under which tools that only read can be called. */
export function readingToolsOf(mounted: readonly Toolset[]): Set<string> {
  return namesOf(mounted, ({ annotations }) => annotations.readOnlyHint)
}

/** The names under which tools for people can be called. */
export function toolsForPeopleOf(mounted: readonly Toolset[]): Set<string> {
  return namesOf(mounted, ({ audience }) => audience === 'person')
}

function namesOf(mounted: readonly Toolset[], isWanted: (tool: Tool) => boolean): Set<string> {
  const listed = listsOf(mounted).tools.filter(isWanted)
  const described = mounted.flatMap(({ tools }) => tools.filter(isWanted))
  return new Set([...listed.map(({ name }) => name), ...described.map((tool) => tool.qualified_name)])
}
