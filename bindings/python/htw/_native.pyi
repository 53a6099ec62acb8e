# The extension that build_native.py describes; only the modules of this package use it.
from typing import Any, Callable, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

class _FFI:
    def def_extern(self, onerror: Callable[..., object] = ...) -> Callable[[_F], _F]: ...
    def __getattr__(self, name: str) -> Any: ...

ffi: _FFI
lib: Any
