"""Tools, resources and prompts, as the component describes them."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

__all__ = ["Annotations", "Prompt", "PromptArgument", "Resource", "ResourceTemplate", "Tool"]


class Annotations(TypedDict):
    """The tool annotations of MCP: hints for the client, not promises."""

    readOnlyHint: bool
    destructiveHint: bool
    idempotentHint: bool
    openWorldHint: bool


class Tool(TypedDict):
    """A tool. Its fields can be given to a model as they are."""

    name: str
    title: str
    description: str
    #: The JSON Schema (2020-12) of the arguments.
    inputSchema: dict[str, Any]
    #: The JSON Schema (2020-12) of the result.
    outputSchema: dict[str, Any]
    annotations: Annotations
    #: Who uses the tool. Offer only tools for a `model` to a model. `call` runs both kinds.
    audience: Literal["model", "person"]
    #: Whether a model always has to see the tool. The others can be shown when the model looks for them.
    always_visible: bool


class Resource(TypedDict):
    """A resource."""

    uri: str
    name: str
    title: str
    description: str
    mimeType: str


class ResourceTemplate(TypedDict):
    """A pattern for the URIs of several resources."""

    #: A template with `{variables}`. With values in their place, it is the URI of a resource.
    uriTemplate: str
    name: str
    title: str
    description: str
    mimeType: str


class PromptArgument(TypedDict):
    """An argument of a prompt, which is a text."""

    name: str
    description: str
    required: bool


class Prompt(TypedDict):
    """A prompt."""

    name: str
    title: str
    description: str
    arguments: list[PromptArgument]
