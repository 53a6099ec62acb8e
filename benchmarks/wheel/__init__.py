# SPDX-License-Identifier: MIT
# Makes this folder a package: otherwise that of python3-wheel is found in its place.
