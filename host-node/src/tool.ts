/** A JSON Schema (2020-12) of an object. */
export interface JsonSchema {
  readonly type: 'object'
  readonly properties?: Readonly<Record<string, object>>
  readonly required?: string[]
  readonly [keyword: string]: unknown
}

/** A tool as the component describes it. Its fields can be given to a model as they are. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  /** The JSON Schema (2020-12) of the arguments. */
  readonly inputSchema: JsonSchema
  /** The JSON Schema (2020-12) of the result. */
  readonly outputSchema: JsonSchema
  /** The tool annotations of MCP: hints for the client, not promises. */
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
  /** Who uses the tool. Offer only tools for a `model` to a model. `call` runs both kinds. */
  readonly audience: 'model' | 'person'
  /** Whether a model always has to see the tool. The others can be shown when the model looks for them. */
  readonly always_visible: boolean
}

/** A resource as the component describes it. */
export interface Resource {
  readonly uri: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly mimeType: string
}

/** A pattern for the URIs of several resources, as the component describes it. */
export interface ResourceTemplate extends Omit<Resource, 'uri'> {
  /** A template with `{variables}`. With values in their place, it is the URI of a resource. */
  readonly uriTemplate: string
}

/** A prompt as the component describes it. */
export interface Prompt {
  readonly name: string
  readonly title: string
  readonly description: string
  /** The arguments of the prompt. Their values are texts. */
  readonly arguments: readonly PromptArgument[]
}

/** An argument of a prompt. */
export interface PromptArgument {
  readonly name: string
  readonly description: string
  readonly required: boolean
}
