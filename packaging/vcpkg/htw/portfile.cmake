# SPDX-License-Identifier: MIT
# The port of vcpkg, of the tree in which it stands: `vcpkg install htw --overlay-ports=packaging/vcpkg`.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(VCPKG_BUILD_TYPE release) # C, which debug builds can use
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DHTW_CMAKE_DIR=share/htw -DHTW_FETCH_XXHASH=OFF)
vcpkg_cmake_install()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/LICENSE.xxhash")
