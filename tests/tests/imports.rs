//! No file of a crate imports itself through other files.
//!
//! A file imports the files that define the names that it uses: the names in its `use`, and the
//! paths in its code. A name that another file only passes on is followed to the file that defines
//! it. So a `mod.rs` that declares modules and re-exports their names imports nothing, and nothing
//! imports it. In a file with code of its own, a re-export counts as an import. Code for tests
//! doesn't count.

use std::collections::{BTreeMap, BTreeSet};

use agent_memory_conformance::workspace::{repository_root, source};

/// A module's path without `crate`, such as `["cli", "options"]`. It stands for the module's file.
type Module = Vec<String>;

/// The files that each file imports.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// The names in a file. The code is formatted, so an item ends with a line of its own indentation.
#[derive(Default)]
struct File {
    children: BTreeSet<String>,
    uses: Vec<Use>,
    /// The paths in its code.
    paths: Vec<Vec<String>>,
    /// Whether it has more than declarations of modules and `use`.
    has_code: bool,
}

/// A name that a file gets by `use`.
struct Use {
    name: String,
    path: Vec<String>,
    is_public: bool,
}

impl File {
    fn parse(text: &str) -> File {
        let mut file = File::default();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let start = line.trim_start();
            let indent = line.len() - start.len();
            let (is_public, item) = without_visibility(start);
            if start == "#[cfg(test)]" {
                let is_of_item = |line: &str| line.trim_start().len() + indent < line.len();
                lines.find(|line| !is_of_item(line) && line.ends_with(['}', ';']));
            } else if let Some(name) = item.strip_prefix("mod ").and_then(|of| of.strip_suffix(';'))
            {
                file.children.insert(name.to_owned());
            } else if let Some(tree) = item.strip_prefix("use ") {
                let mut tree = tree.to_owned();
                while !tree.ends_with(';') {
                    tree += lines.next().expect("a `use` ends").trim();
                }
                let paths = spelled_out(tree.trim_end_matches(';')).into_iter();
                file.uses.extend(paths.map(|path| Use::new(&path, is_public)));
            } else if !start.is_empty() && !start.starts_with("//") {
                file.has_code |= !start.starts_with('#');
                let is_of_path = |letter: char| letter.is_alphanumeric() || "_:".contains(letter);
                let paths = start.split(|letter| !is_of_path(letter));
                file.paths.extend(paths.filter(|path| path.contains("::")).map(segments));
            }
        }
        file
    }
}

/// Whether an item is public, and the item without its visibility.
fn without_visibility(item: &str) -> (bool, &str) {
    let Some(rest) = item.strip_prefix("pub") else { return (false, item) };
    let is_restricted = rest.starts_with('(');
    let rest = rest.split_once(if is_restricted { ") " } else { " " });
    rest.map_or((false, item), |(_, item)| (true, item))
}

/// `a::{b, c::d}` as `a::b` and `a::c::d`.
fn spelled_out(tree: &str) -> Vec<String> {
    let Some((before, names)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let names = names.strip_suffix('}').expect("the braces of a path end it");
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for letter in names.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        match letter {
            ',' if depth == 0 => parts.push(String::new()),
            _ => parts.last_mut().expect("one at least").push(letter),
        }
    }
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.flat_map(|part| spelled_out(&format!("{before}{part}"))).collect()
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

impl Use {
    fn new(path: &str, is_public: bool) -> Use {
        let (path, name) = match path.split_once(" as ") {
            Some((path, name)) => (path, Some(name.to_owned())),
            None => (path, None),
        };
        let path = segments(path.strip_suffix("::self").unwrap_or(path));
        let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
        Use { name, path, is_public }
    }
}

/// A crate's files.
struct Crate(BTreeMap<Module, File>);

impl Crate {
    /// The root and all files that are declared below it. `read` gives the text of a file.
    fn read(read: impl Fn(&Module) -> String) -> Crate {
        let mut files = BTreeMap::new();
        let mut declared = vec![Module::new()];
        while let Some(module) = declared.pop() {
            let file = File::parse(&read(&module));
            let children =
                file.children.iter().map(|name| [module.clone(), vec![name.clone()]].concat());
            declared.extend(children);
            files.insert(module, file);
        }
        Crate(files)
    }

    /// The module that defines the name at the end of a path. None if the path leads to another
    /// crate, or to a module: its names count where they are used.
    fn definer(&self, of: &Module, path: &[String]) -> Option<Module> {
        let mut module = of.clone();
        for (at, segment) in path.iter().enumerate() {
            let file = &self.0[&module];
            let is_used = |of: &&Use| of.name == *segment && of.path.first() != Some(segment);
            match segment.as_str() {
                "crate" => module.clear(),
                "self" => {}
                "super" => drop(module.pop()),
                name if file.children.contains(name) => module.push(segment.clone()),
                _ => match file.uses.iter().find(is_used) {
                    Some(of) => {
                        return self.definer(&module, &[&of.path, &path[at + 1..]].concat());
                    }
                    None => return (at > 0).then_some(module),
                },
            }
        }
        None
    }

    fn imports(&self) -> Imports {
        let imports = |(module, file): (&Module, &File)| {
            let uses = file.uses.iter().filter(|of| file.has_code || !of.is_public);
            let paths = uses.map(|of| &of.path).chain(&file.paths);
            let definers = paths.filter_map(|path| self.definer(module, path));
            (module.clone(), definers.filter(|definer| definer != module).collect())
        };
        self.0.iter().map(imports).collect()
    }
}

/// A circle of imports as a list of files that ends with its first one, if there is one.
fn circle(imports: &Imports) -> Option<Vec<Module>> {
    fn visit(
        imports: &Imports,
        path: &mut Vec<Module>,
        done: &mut BTreeSet<Module>,
        module: &Module,
    ) -> Option<Vec<Module>> {
        if let Some(at) = path.iter().position(|earlier| earlier == module) {
            return Some([path[at..].to_vec(), vec![module.clone()]].concat());
        }
        if !done.insert(module.clone()) {
            return None;
        }
        path.push(module.clone());
        let found = imports[module].iter().find_map(|next| visit(imports, path, done, next));
        path.pop();
        found
    }
    let mut path = Vec::new();
    let mut done = BTreeSet::new();
    imports.keys().find_map(|module| visit(imports, &mut path, &mut done, module))
}

/// The directories of the workspace's crates, without crates for tests.
fn crates() -> Vec<String> {
    let manifest = source("Cargo.toml");
    let (_, members) = manifest.split_once("\nmembers = [").expect("the list of members");
    let (members, _) = members.split_once(']').expect("a list ends");
    let members = members.split('"').skip(1).step_by(2);
    let is_test =
        |member: &&str| ["bench", "fuzz", "tests"].iter().any(|of| member.starts_with(of));
    members.filter(|member| !is_test(member)).map(str::to_owned).collect()
}

/// The path of a module's file, from the top level.
fn file(directory: &str, module: &Module) -> String {
    let name = match module.join("/") {
        root if root.is_empty() => "lib".to_owned(),
        name => name,
    };
    let path = format!("{directory}/src/{name}.rs");
    let is_file = repository_root().join(&path).is_file();
    if is_file { path } else { format!("{directory}/src/{name}/mod.rs") }
}

#[test]
fn no_file_of_a_crate_imports_itself_through_other_files() {
    let crates = crates();
    assert!(crates.contains(&"storage/files".to_owned()), "{crates:?}");
    let mut circles = Vec::new();
    for directory in crates {
        let imports = Crate::read(|module| source(&file(&directory, module))).imports();
        let found: usize = imports.values().map(BTreeSet::len).sum();
        assert!(found > 0 || imports.len() == 1, "no imports are found in `{directory}`");
        if let Some(circle) = circle(&imports) {
            circles.push(circle.iter().map(|of| file(&directory, of)).collect::<Vec<_>>());
        }
    }
    assert!(circles.is_empty(), "break these circles: {circles:#?}");
}

/// Checks which circle a crate of these files has. The root is named `""`.
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let read = |module: &Module| files[module.join("/").as_str()].to_owned();
    let found = circle(&Crate::read(read).imports()).unwrap_or_default();
    let found: Vec<_> = found.iter().map(|module| module.join("/")).collect();
    assert_eq!(found, expected, "{files:?}");
}

#[test]
fn a_circle_of_imports_is_found() {
    let root = ("", "mod a;\nmod b;\nmod c;\npub use a::A;");
    let b = ("b", "use crate::{\n    c::{self, E as F},\n};\nconst B: i32 = c::C;");
    let ends = ("c", "const C: i32 = 1;");
    check(&[root, ("a", "use super::b::B;\nstruct A;"), b, ends], &[]);
    for back in ["use super::a::A;", "pub(crate) use crate::A;", "const D: A = crate::a::A::new();"]
    {
        let c = format!("{back}\nconst C: i32 = 1;");
        check(&[root, ("a", "use super::b::B;\nstruct A;"), b, ("c", &c)], &["a", "b", "c", "a"]);
        let c = format!("const C: i32 = 1;\n\n#[cfg(test)]\nmod tests {{\n    {back}\n}}");
        check(&[root, ("a", "use super::b::B;\nstruct A;"), b, ("c", &c)], &[]);
    }
}

#[test]
fn only_a_file_with_code_of_its_own_is_in_a_circle_with_its_children() {
    let child = ("a", "use super::b::B;\nstruct A;");
    let other = ("b", "struct B;");
    check(&[("", "//! Docs.\n\nmod a;\nmod b;\n\npub use a::A;"), child, other], &[]);
    let root = ("", "mod a;\nmod b;\n\npub use a::A;\n\nstruct C;");
    check(&[root, child, other], &[]);
    check(&[root, ("a", "use super::C;\nstruct A;"), other], &["", "a", ""]);
}
