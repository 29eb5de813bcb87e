# SPDX-License-Identifier: MIT
#
# nix-build packaging/nix, in this source tree or in that of a release; only the latter has the page of wfreport.
{ pkgs ? import <nixpkgs> { } }:
pkgs.callPackage ./package.nix { }
