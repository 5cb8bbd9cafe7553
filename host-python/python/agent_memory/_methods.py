"""The methods of toolsets. `_methods.pyi` has their types, which follow from the component's description."""

import keyword


class Toolset:
    """A mounted toolset. Each of its tools is a method, whose keywords are the arguments."""

    def __init__(self, name, tools, call):
        self._name, self._tools, self._call = name, tools, call

    def __getattr__(self, name):
        tool = self._listed(name)

        def method(**arguments):
            return self._call(tool, _arguments(arguments)).value

        return _named(method, self, name)

    def __dir__(self):
        return [*super().__dir__(), *self._tools]

    def _listed(self, name):
        """The name under which a tool is listed: a shared one begins with the name of its toolset."""
        # Python itself asks for attributes that begin with `_`, for example to copy an object.
        listed = () if name.startswith("_") else self._tools
        for tool in (name, f"{self._name}_{name}"):
            if tool in listed:
                return tool
        raise AttributeError(f"the toolset `{self._name}` has no tool `{name}`; there are {', '.join(listed)}")


class AsyncToolset(Toolset):
    """A mounted toolset for `asyncio`."""

    def __getattr__(self, name):
        tool = self._listed(name)

        async def method(**arguments):
            return (await self._call(tool, _arguments(arguments))).value

        return _named(method, self, name)


def _named(method, toolset, name):
    method.__name__ = name
    method.__qualname__ = f"{toolset._name}.{name}"
    return method


def _arguments(given):
    """The arguments of a tool from keywords. A name that is a reserved word of Python has `_` at its end."""
    own = {name: name[:-1] for name in given if name.endswith("_") and keyword.iskeyword(name[:-1])}
    return {own.get(name, name): value for name, value in given.items()}
