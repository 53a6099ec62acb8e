# The extension of htw.journal, which build_native.py describes.
from typing import Any

from htw._native import _FFI

ffi: _FFI
lib: Any
