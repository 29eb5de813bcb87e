# SPDX-License-Identifier: MIT
{ lib, stdenv, fetchurl, meson, ninja, pkg-config, python3, scdoc, llvmPackages, bpftools, libbpf, libck, graphviz
, jansson, libcap, libmicrohttpd, libnl, liburing, libxml2, libyaml, ncurses, nettle, numactl, sqlite, uthash, util-linux, zlib
, linuxHeaders }:

let
  # The wrap in subprojects/ has the same name and checksum.
  libfuse = fetchurl {
    url = "https://github.com/libfuse/libfuse/releases/download/fuse-3.18.3/fuse-3.18.3.tar.gz";
    sha256 = "bcd19582c5e30f7fe45dd86a5540e998590aa01903afc7ebcbeea6c8ac5421ee";
  };
  source = lib.cleanSource ../..;
  page = builtins.pathExists (source + "/report/page.frame");
in
stdenv.mkDerivation {
  pname = "ftrac";
  version = "0.1.0";
  src = source;

  postPatch = ''
    patchShebangs db report
    mkdir -p subprojects/packagecache
    cp ${libfuse} subprojects/packagecache/fuse-3.18.3.tar.gz
  '';

  nativeBuildInputs = [ meson ninja pkg-config python3 scdoc llvmPackages.clang-unwrapped bpftools ];
  buildInputs = [ libbpf libck graphviz jansson libcap libmicrohttpd libnl liburing libxml2 libyaml ncurses nettle numactl sqlite uthash util-linux zlib ];

  # Where clang without Nix's wrapper, which is not for the target bpf, looks for headers.
  C_INCLUDE_PATH = lib.makeSearchPathOutput "dev" "include" [ libbpf linuxHeaders ];

  mesonFlags = [
    "-Dman=enabled"
    "-Dpython=disabled"
    "-Dtests=disabled"
    "-Dreport=${if page then "enabled" else "disabled"}"
  ];
  mesonInstallFlags = [ "--skip-subprojects" ];

  meta = {
    description = "Trace the files and processes of a workflow into an SQLite database";
    homepage = "https://example.org/ftrac";
    license = with lib.licenses; [ mit isc bsd2 bsd3 unlicense lgpl21Only ];
    platforms = lib.platforms.linux;
    mainProgram = "ftrac";
  };
}
