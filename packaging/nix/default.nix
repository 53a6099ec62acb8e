# SPDX-License-Identifier: MIT
# default.nix - the libraries and the commands, of the tree in which it stands: `nix-build packaging/nix`.
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "htw";
  version = builtins.head (builtins.match ".*\n  version: '([0-9.]+).*" (builtins.readFile ../../meson.build));
  src = pkgs.lib.cleanSource ../..;
  nativeBuildInputs = [ pkgs.meson pkgs.ninja pkgs.pkg-config ];
  buildInputs = [ pkgs.cctz pkgs.sqlite pkgs.xxHash ];
  mesonFlags = [ "-Dtests=false" "-Dexamples=false" "-Dpkgconfig.relocatable=false" "-Dcalendar=enabled" "-Djournal=enabled" ];
  meta = {
    description = "Hierarchical timing wheels: a timer engine for very many timeouts";
    license = [ pkgs.lib.licenses.mit pkgs.lib.licenses.bsd2 ];
    platforms = pkgs.lib.platforms.linux;
    mainProgram = "htw";
  };
}
