//! The scope that a change of items locks.

use super::namespace::stored;
use crate::storage::version_of;

/// The number of hexadecimal digits of a scope's name, which gives 4,096 scopes. The number is
/// limited because a database server keeps a row for each scope.
const DIGITS: usize = 3;

/// The items that a change locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The items of one namespace, in its stored form.
    Namespace(String),
    Everything,
}

impl Scope {
    /// The scope of a change in one namespace.
    pub fn from_namespace(namespace: &[String]) -> Self {
        Self::Namespace(stored(namespace))
    }

    /// The scope of a change in several namespaces. A call locks one scope at a time, so different
    /// namespaces need [`Scope::Everything`].
    pub fn from_namespaces<'a>(namespaces: impl IntoIterator<Item = &'a [String]>) -> Self {
        let mut scopes = namespaces.into_iter().map(Self::from_namespace);
        let first = scopes.next().unwrap_or(Self::Everything);
        if scopes.all(|scope| scope == first) { first } else { Self::Everything }
    }

    /// The name of the scope to lock. `None` for the whole place. Namespaces can share a scope:
    /// then their writers wait for each other.
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
