//! A place of a toolset, in the source and in the target.

use super::super::program::description;
use super::table::{Table, created, statement};
use super::work::{Counts, Pass, Work};
use super::{documents, rows};
use crate::storage::api::Documents as _;
use crate::storage::{
    self, Area, Database, DatabaseKind, Dialect, Error, ErrorCode, PlaceKind, Storage, Tree, Value,
    Writer,
};
use crate::{DatabaseDescription, PlaceDescription, Toolset};

/// A place that is moved.
pub(super) struct Place<'a> {
    pub toolset: &'static str,
    description: &'static PlaceDescription,
    name: String,
    source: Tree,
    target: &'a Storage,
    /// The lock of a source on this machine, held until the move ends. `None` for a source in a
    /// database: its locks are not held for so long.
    _lock: Option<Writer>,
    pub counts: Counts,
}

impl<'a> Place<'a> {
    /// The places of a toolset that have data in the source. Their locks are held if the source is on
    /// this machine, so nobody writes to them during the move.
    pub fn all(
        work: &mut Work<'_>,
        toolset: &'static Toolset,
        from: &Storage,
        target: &'a Storage,
    ) -> Result<Vec<Self>, Error> {
        let mut places = Vec::new();
        for description in &toolset.places {
            let kind = PlaceKind::Named(description.label.clone());
            let others = target.list_places(&kind, &[])?;
            let names = from.list_places(&kind, &[])?;
            for other in others.iter().filter(|other| !names.contains(other)) {
                check_empty(work, description, None, target, other)?;
            }
            for name in names.iter().cloned() {
                let is_twin =
                    |other: &&String| other.eq_ignore_ascii_case(&name) && **other != name;
                if let Some(other) = others.iter().find(is_twin) {
                    work.problem(&format!(
                        "`{name}` is written `{other}` in the target: rename one of them"
                    ));
                } else if let Some(other) =
                    names.iter().find(is_twin).filter(|other| **other < name)
                {
                    work.problem(&format!(
                        "`{name}` and `{other}` differ only in case: rename one of them"
                    ));
                }
                let at = storage::Place::in_group(&description.label, &name);
                let source = from.open(&at, &[])?;
                if !has_anything(&source, description)? {
                    check_empty(work, description, Some(&source), target, &name)?;
                    continue;
                }
                let is_here = source.lock_key().directory().is_some();
                let lock = is_here.then(|| work.lock(&source)).transpose()?;
                places.push(Place {
                    toolset: &toolset.name,
                    description,
                    name,
                    source,
                    target,
                    _lock: lock,
                    counts: Counts::default(),
                });
            }
            tell_of_descriptions(work, description, from)?;
        }
        Ok(places)
    }

    /// The name of the place in messages.
    pub fn shown(&self) -> String {
        match self.name.as_str() {
            "" => self.toolset.to_owned(),
            name => format!("{}/{name}", self.toolset),
        }
    }

    /// Carries out a pass on the documents and rows of the place.
    pub fn pass(&mut self, work: &mut Work<'_>, pass: Pass) -> Result<(), Error> {
        let mut counts = Counts { places: 1, ..Counts::default() };
        let target = self.target(work, pass)?;
        if let Some(target) = target.as_ref().filter(|_| pass == Pass::Copy) {
            forget_derived(work, target)?;
        }
        documents::pass(work, pass, &self.source, target.as_ref(), &mut counts)?;
        for database in &self.description.databases {
            let Some(source) = opened(&self.source, database, false)? else {
                if let Some(target) = target.as_ref().filter(|_| pass == Pass::Check) {
                    check_no_rows(work, None, target, database)?;
                }
                continue;
            };
            let target = target.as_ref().expect("a place with databases is in no family");
            let of = opened(target, database, false)?;
            let is_server = |database: &&Database| database.dialect() == Dialect::Postgres;
            let server = of.as_ref().filter(is_server).unwrap_or(&source);
            let tables = Table::all(server, database)?;
            let is_of_other = |database: &Database| rows::is_foreign(database, &tables);
            if pass == Pass::Check && of.as_ref().map_or(Ok(false), is_of_other)? {
                let location = target.location();
                work.problem(&format!(
                    "`{location}` has a database of another program: move it away"
                ));
                continue;
            }
            let of = match of {
                None if pass == Pass::Copy && rows::has_any(&source, &tables)? => {
                    opened(target, database, true)?
                }
                of => of,
            };
            let moved = rows::Moved { pass, source, target: of, tables: &tables, database };
            moved.run(work, &mut counts)?;
        }
        if pass == Pass::Check {
            self.counts = counts;
        }
        Ok(())
    }

    /// The place in the target. `None` if it does not exist; a copy creates it.
    fn target(&self, work: &Work<'_>, pass: Pass) -> Result<Option<Tree>, Error> {
        let at = storage::Place::in_group(&self.description.label, &self.name);
        match self.target.open(&at, &[]) {
            Err(error) if error.code == ErrorCode::NotFound && pass == Pass::Copy => {
                work.wait(self.target.create_place(&at, work.timeout())).map(Some)
            }
            Err(error) if error.code == ErrorCode::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }
}

/// Reports documents and rows of the place `name` in the target as problems, since the source has no
/// data there. `source` is the place in the source, if it exists.
fn check_empty(
    work: &mut Work<'_>,
    description: &PlaceDescription,
    source: Option<&Tree>,
    target: &Storage,
    name: &str,
) -> Result<(), Error> {
    let target = match target.open(&storage::Place::in_group(&description.label, name), &[]) {
        Err(error) if error.code == ErrorCode::NotFound => return Ok(()),
        opened => opened?,
    };
    documents::check_none(work, &target)?;
    for database in &description.databases {
        check_no_rows(work, source, &target, database)?;
    }
    Ok(())
}

/// Reports rows in the target as a problem: the source has none. A document that is moved could hide
/// such rows.
fn check_no_rows(
    work: &mut Work<'_>,
    source: Option<&Tree>,
    target: &Tree,
    database: &DatabaseDescription,
) -> Result<(), Error> {
    let Some(of) = opened(target, database, false)? else { return Ok(()) };
    let source = source.map(|source| opened(source, database, false)).transpose()?.flatten();
    let both = [Some(&of), source.as_ref()].into_iter().flatten();
    let mut servers = both.filter(|database| database.dialect() == Dialect::Postgres);
    let Some(server) = servers.next() else { return Ok(()) };
    let empty = match of.dialect() {
        Dialect::Postgres => "such as that of a new tenant",
        Dialect::Sqlite => "in another directory",
    };
    for table in Table::all(server, database)? {
        if rows::has_any(&of, std::slice::from_ref(&table))? {
            work.problem(&format!(
                "{}: the target has rows of another memory in `{}`: move into an empty memory, {empty}",
                of.location(),
                table.name
            ));
        }
    }
    Ok(())
}

/// Empties the index and the vectors of a place: they lack the moved rows, and are built anew later.
fn forget_derived(work: &Work<'_>, tree: &Tree) -> Result<(), Error> {
    for derived in &description().derived_databases {
        let database = match tree.open_database(&derived.name, DatabaseKind::Derived, false) {
            Err(error) if error.code == ErrorCode::NotFound => continue,
            opened => opened?,
        };
        let mut statements = Vec::new();
        for table in created(&derived.postgres_tables) {
            let is_there = statement(
                "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1",
                vec![Value::Text(table.to_owned())],
            );
            if database.dialect() == Dialect::Postgres
                || !database.query(&is_there, 1)?.rows.is_empty()
            {
                statements.push(statement(format!("DELETE FROM {table}"), Vec::new()));
            }
        }
        work.execute(&database, &statements)?;
    }
    Ok(())
}

/// Opens a database of primary data. `None` if it does not exist.
fn opened(
    tree: &Tree,
    database: &DatabaseDescription,
    create: bool,
) -> Result<Option<Database>, Error> {
    match tree.open_database(&database.name, DatabaseKind::Kept, create) {
        Err(error) if error.code == ErrorCode::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

fn has_anything(tree: &Tree, description: &PlaceDescription) -> Result<bool, Error> {
    for area in [Area::Documents, Area::Bookkeeping] {
        if tree.list(area, "")?.is_some_and(|entries| !entries.is_empty()) {
            return Ok(true);
        }
    }
    for database in &description.databases {
        let Some(found) = opened(tree, database, false)? else { continue };
        let is_here = found.dialect() == Dialect::Sqlite;
        if is_here || rows::has_any(&found, &Table::all(&found, database)?)? {
            return Ok(true);
        }
    }
    Ok(description.is_family())
}

/// Adds a note for each description in a registry: a database has no descriptions, so they are not
/// moved.
fn tell_of_descriptions(
    work: &mut Work<'_>,
    description: &PlaceDescription,
    from: &Storage,
) -> Result<(), Error> {
    if description.is_family() {
        for (name, registered) in from.registered(&description.label)? {
            if registered.description.is_some() {
                work.note(format!("the description of `{name}` stays in the registry"));
            }
        }
    }
    Ok(())
}
