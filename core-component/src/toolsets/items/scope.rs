//! The scope that a change of items locks.

use super::namespace::stored;
use crate::storage::version_of;

/// The digits of a scope. There are 4,096 scopes: a database server keeps a row for each, and namespaces
/// have no limit.
const DIGITS: usize = 3;

/// The items that a change reads and changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Those of one namespace, as it is stored.
    Namespace(String),
    Everything,
}

impl Scope {
    /// The scope of a change in one namespace.
    pub fn from_namespace(namespace: &[String]) -> Self {
        Self::Namespace(stored(namespace))
    }

    /// The scope of a change in several namespaces. A call locks one scope at a time, so it is everything if
    /// the namespaces differ.
    pub fn from_namespaces<'a>(namespaces: impl IntoIterator<Item = &'a [String]>) -> Self {
        let mut scopes = namespaces.into_iter().map(Self::from_namespace);
        let first = scopes.next().unwrap_or(Self::Everything);
        if scopes.all(|scope| scope == first) { first } else { Self::Everything }
    }

    /// The scope of the lock, `None` for the whole place. Namespaces may share one: then their writers
    /// come one after the other.
    pub fn name(&self) -> Option<String> {
        match self {
            Self::Namespace(namespace) => {
                Some(version_of(namespace.as_bytes())[..DIGITS].to_owned())
            }
            Self::Everything => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_namespace_is_a_scope_and_several_are_everything() {
        let [ada, bob] =
            [["users", "ada"], ["users", "bob"]].map(|labels| labels.map(String::from));
        assert_eq!(Scope::from_namespaces([&ada[..], &ada]), Scope::from_namespace(&ada));
        assert_eq!(Scope::from_namespaces([&ada[..], &bob]), Scope::Everything);
        assert_eq!(Scope::from_namespaces([]), Scope::Everything);
        let names = [Scope::from_namespace(&ada), Scope::from_namespace(&bob), Scope::Everything]
            .map(|scope| scope.name());
        assert!(names[0] != names[1] && names[2].is_none(), "{names:?}");
        assert_eq!(names[0].as_ref().map(String::len), Some(DIGITS));
    }
}
