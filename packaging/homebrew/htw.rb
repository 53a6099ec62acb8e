# SPDX-License-Identifier: MIT
# htw.rb - a formula of Homebrew on Linux, for a tap.
class Htw < Formula
  desc "Hierarchical timing wheels: a timer engine for very many timeouts"
  homepage "https://htw.invalid/"
  url "https://htw.invalid/htw.git", tag: "v0.3.0"
  license all_of: ["MIT", "BSD-2-Clause"]
  head "https://htw.invalid/htw.git", branch: "main"

  depends_on "meson" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => [:build, :test]
  depends_on "xxhash" => :build
  depends_on :linux
  depends_on "sqlite"

  def install
    system "meson", "setup", "build", "-Dtests=false", "-Dexamples=false", "-Djournal=enabled", *std_meson_args
    system "meson", "install", "-C", "build"
    pkgshare.install "tests/api/consumer/consumer.c"
  end

  test do
    system ENV.cc, pkgshare/"consumer.c", "-o", "consumer", *shell_output("pkgconf --cflags --libs htw").split
    system "./consumer"
  end
end
