// SPDX-License-Identifier: MIT
//! Finds the library with pkg-config, or compiles it into the program (feature `vendored`).

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "vendored")]
    vendored::compile();
    #[cfg(not(feature = "vendored"))]
    find_installed();
}

/// Until 1.0 each minor version of the library may change the interface, and has its own crate.
#[cfg(not(feature = "vendored"))]
fn find_installed() {
    let number = |text: &str| text.parse::<u32>().unwrap();
    let major = number(env!("CARGO_PKG_VERSION_MAJOR"));
    let minor = number(env!("CARGO_PKG_VERSION_MINOR"));
    let this = format!("{}.{}", major, minor);
    let next = if major == 0 { format!("0.{}", minor + 1) } else { (major + 1).to_string() };
    let parts =
        [("htw-calendar", cfg!(feature = "calendar")), ("htw-journal", cfg!(feature = "journal"))];
    for library in parts.iter().filter(|part| part.1).map(|part| part.0).chain(["htw"]) {
        let mut config = pkg_config::Config::new();
        if let Err(error) = config.range_version(this.as_str()..next.as_str()).probe(library) {
            eprintln!(
                "The C library {} {} was not found. Install it and set PKG_CONFIG_PATH, or \
                 compile it into the program with the feature `vendored`.\n{}",
                library, this, error
            );
            std::process::exit(1);
        }
    }
}

#[cfg(feature = "vendored")]
mod vendored {
    use std::path::{Path, PathBuf};
    use std::{env, fs};

    /// The sources lie in csrc/ in a package, otherwise in the repository around this crate.
    fn root() -> PathBuf {
        let crate_root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
        let packaged = crate_root.join("csrc");
        if packaged.exists() {
            packaged
        } else {
            crate_root.join("../../..")
        }
    }

    fn sources(root: &Path) -> Vec<PathBuf> {
        let text = fs::read_to_string(root.join("src/sources.txt")).expect("src/sources.txt");
        let files = text.lines().filter(|line| !line.starts_with('#'));
        files.map(|file| root.join("src").join(file)).collect()
    }

    fn build(root: &Path) -> cc::Build {
        let mut build = cc::Build::new();
        build
            .include(root.join("include"))
            .include(root) // xxhash.h, in a package
            .flag("-pthread")
            .flag("-fexceptions")
            .flag("-fvisibility=hidden")
            .define("_GNU_SOURCE", None)
            .define("HTW_ANNOTATE", "1");
        build
    }

    /// One file is in C++: the one that knows cctz.
    #[cfg(feature = "calendar")]
    fn compile_calendar(root: &Path) {
        let folder = root.join("src/calendar");
        let files = fs::read_dir(&folder).expect("src/calendar").map(|entry| entry.unwrap().path());
        let sources: Vec<_> = files.filter(|f| f.extension() == Some("c".as_ref())).collect();
        build(root).files(sources).flag("-std=c11").compile("htw_calendar");
        let zone = folder.join("zone.cc");
        if let Err(error) = build(root).cpp(true).file(zone).try_compile("htw_zone") {
            eprintln!("The feature `calendar` needs cctz (Debian: libcctz-dev).\n{}", error);
            std::process::exit(1);
        }
        println!("cargo:rustc-link-lib=cctz");
    }

    #[cfg(feature = "journal")]
    fn compile_journal(root: &Path) {
        let folders = ["src/journal", "src/journal/database"].map(|name| root.join(name));
        let entries = folders.iter().flat_map(|folder| folder.read_dir().expect("src/journal"));
        let files = entries.map(|entry| entry.unwrap().path());
        let sources = files.filter(|f| f.extension() == Some("c".as_ref()));
        if let Err(error) = build(root).files(sources).flag("-std=c11").try_compile("htw_journal") {
            eprintln!("The feature `journal` needs SQLite (Debian: libsqlite3-dev).\n{}", error);
            std::process::exit(1);
        }
        println!("cargo:rustc-link-lib=sqlite3");
    }

    pub fn compile() {
        if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
            eprintln!("The feature `vendored` needs Linux. Install the library there, with Meson.");
            std::process::exit(1);
        }
        let root = root();
        for part in ["include", "src"] {
            println!("cargo:rerun-if-changed={}", root.join(part).display());
        }
        #[cfg(feature = "calendar")]
        compile_calendar(&root);
        #[cfg(feature = "journal")]
        compile_journal(&root);
        // An archive for each folder, because files of two folders may have the same name.
        // The list begins with the lowest folder, the linker wants it last.
        let sources = sources(&root);
        let mut folders: Vec<_> = sources.iter().map(|file| file.parent().unwrap()).collect();
        folders.dedup();
        for folder in folders.into_iter().rev() {
            let own = sources.iter().filter(|file| file.parent() == Some(folder));
            let name = format!("htw_{}", folder.file_name().unwrap().to_str().unwrap());
            build(&root).files(own).flag("-std=c11").compile(&name);
        }
        println!("cargo:rustc-link-lib=pthread");
        println!("cargo:include={}", root.join("include").display());
    }
}
