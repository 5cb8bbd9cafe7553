import { invalidOption } from './errors.ts'
import type { Prompt, Resource, ResourceTemplate, Tool } from './tool.ts'

/** A component's description of itself: the JSON that `describe` in `wit/toolbox` returns. */
export interface Description {
  /** In the order in which users should see them. */
  readonly toolsets: readonly Toolset[]
}

export interface Toolset {
  readonly name: string
  /** Its use, in one line. */
  readonly description: string
  /** Whether it is mounted by default. */
  readonly default: boolean
  readonly settings: readonly Setting[]
  readonly places: readonly PlaceDescription[]
  readonly tools: readonly DescribedTool[]
  readonly resources: readonly Resource[]
  readonly resource_templates: readonly ResourceTemplate[]
  readonly prompts: readonly Prompt[]
  /**
   * The name of a boolean setting. If it is given, the toolset is mounted along with any other toolset,
   * unless the setting is true.
   */
  readonly left_out_by?: string
}

/** The values that were set, by toolset and by name. Each matches its schema. */
export type SettingValues = ReadonlyMap<string, Readonly<Record<string, unknown>>>

export interface Setting {
  readonly name: string
  /** The JSON Schema of a value. */
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

/** A place other than a repository in which a toolset stores something. */
export interface PlaceDescription {
  readonly label: string
  readonly kind: 'directory' | 'file' | 'family'
  readonly is_private: boolean
  /** The setting that gives its path. For a family, this is the path of the registry. */
  readonly setting?: string
  /**
   * The default path. `~/` at its beginning stands for the home directory, `data:` for the data directory, and `config:`
   * for the data directory that was given, or else the configuration directory.
   */
  readonly default: string
  readonly databases: readonly { readonly name: string }[]
  /** The message for a person if the place is not granted. */
  readonly missing: string
}

export interface DescribedTool extends Tool {
  readonly qualified_name: string
  /** The other toolsets that have a tool of the same name. */
  readonly shared_with: readonly string[]
}

/** The lists of the mounted toolsets, in the order in which users should see them. */
export interface Lists {
  readonly tools: readonly Tool[]
  readonly resources: readonly Resource[]
  readonly resourceTemplates: readonly ResourceTemplate[]
  readonly prompts: readonly Prompt[]
}

/**
 * The toolsets with these names. `all` stands for every toolset. Without names: the toolsets that are
 * mounted by default. If any toolset is mounted, also each toolset with `left_out_by` whose setting
 * does not leave it out.
 */
export function mountedToolsets(
  { toolsets }: Description,
  names: readonly string[] = toolsets.filter((toolset) => toolset.default).map(({ name }) => name),
  values: SettingValues = new Map(),
): readonly Toolset[] {
  if (!Array.isArray(names)) throw invalidOption('toolsets', "is not an array of names, such as `['all']`")
  const known = [...toolsets.map(({ name }) => name), 'all']
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    const list = known.map((name) => `\`${name}\``).join(', ')
    throw invalidOption('toolsets', `has \`${unknown}\`, which does not exist; there are ${list}`)
  }
  const comesAlong = ({ name, left_out_by }: Toolset) =>
    left_out_by === undefined ? names.includes('all') : names.length > 0 && values.get(name)?.[left_out_by] !== true
  return toolsets.filter((toolset) => names.includes(toolset.name) || comesAlong(toolset))
}

/** The lists of the mounted toolsets. Two mounted tools of one name are listed by their qualified names. */
export function listsOf(mounted: readonly Toolset[]): Lists {
  const isMounted = (name: string) => mounted.some((toolset) => toolset.name === name)
  const listed = ({ qualified_name, shared_with, ...tool }: DescribedTool): Tool =>
    shared_with.some(isMounted) ? { ...tool, name: qualified_name } : tool
  return {
    tools: mounted.flatMap(({ tools }) => tools.map(listed)),
    resources: mounted.flatMap(({ resources }) => resources),
    resourceTemplates: mounted.flatMap(({ resource_templates }) => resource_templates),
    prompts: mounted.flatMap(({ prompts }) => prompts),
  }
}

/** All names by which the read-only tools can be called. */
export function readOnlyToolNames(mounted: readonly Toolset[]): Set<string> {
  return namesOf(mounted, ({ annotations }) => annotations.readOnlyHint)
}

/** All names by which the tools for people can be called. */
export function personToolNames(mounted: readonly Toolset[]): Set<string> {
  return namesOf(mounted, ({ audience }) => audience === 'person')
}

function namesOf(mounted: readonly Toolset[], isWanted: (tool: Tool) => boolean): Set<string> {
  const listed = listsOf(mounted).tools.filter(isWanted)
  const described = mounted.flatMap(({ tools }) => tools.filter(isWanted))
  return new Set([...listed.map(({ name }) => name), ...described.map((tool) => tool.qualified_name)])
}
