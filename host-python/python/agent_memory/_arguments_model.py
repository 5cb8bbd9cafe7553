"""The arguments of a tool as a model of Pydantic, for frameworks that take no JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict


def arguments_model(name: str, schema: Mapping[str, Any]) -> type[BaseModel]:
    """A Pydantic model that has this JSON Schema but accepts any arguments: the tool itself checks them."""

    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def __get_pydantic_json_schema__(cls, *_: Any) -> dict[str, Any]:
            return dict(schema)

    Arguments.__name__ = Arguments.__qualname__ = name
    return Arguments
