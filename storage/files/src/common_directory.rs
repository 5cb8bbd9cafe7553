//! The common Git directory of a repository, which all of its worktrees share.

use std::path::{Path, PathBuf};

use agent_memory_storage::{Error, ErrorCode};

use crate::canonical::canonical;
use crate::repository::{Grant, Repository, dot_git, is_bare, read_small, resolve_pointer};
use crate::{Errno, errno_error, io_error};

/// Returns the common Git directory of the repository whose top level is `directory`, or `directory`
/// if it is a bare repository. A linked worktree has the common directory of its repository; a
/// submodule has its own. `None` if `directory` is neither.
///
/// The result is canonical. A repository cannot pose as a worktree of another repository: the Git
/// directory of a worktree has to be in `worktrees` of the common directory that it names.
///
/// # Errors
///
/// `not-granted` if the `.git` cannot be trusted, with the reason and what to do; `permission`, `io`.
pub fn git_common_directory(directory: &Path) -> Result<Option<PathBuf>, Error> {
    let shown = directory.display().to_string();
    let failed = |errno: Errno| errno_error(errno, &format!("read the `.git` of `{shown}`"));
    if dot_git(directory, &shown)?.is_none() {
        return Ok(is_bare(directory).map_err(failed)?.then(|| directory.to_owned()));
    }
    let Some(name) = directory.to_str() else {
        let message = format!("the path `{shown}` is not UTF-8: move the repository");
        return Err(Error::new(ErrorCode::InvalidPath, message));
    };
    let grant = Grant::from_canonical(directory.to_owned());
    let git_directory = Repository::resolve(name, &[grant])?.lock_parent;
    // A `.git` that is a directory is the repository's own.
    if git_directory == directory.join(".git") {
        // Made canonical: on Windows, the same path can be written in two ways.
        let own = canonical(&git_directory);
        return own.map(Some).map_err(|error| io_error(&error, &format!("open `{shown}`")));
    }
    let Some(pointer) = read_small(&git_directory, "commondir").map_err(failed)? else {
        return Ok(Some(git_directory));
    };
    // Git keeps the data of each worktree in `worktrees/NAME` of the common directory.
    let worktrees = git_directory.parent().filter(|parent| parent.ends_with("worktrees"));
    let common = resolve_pointer(&git_directory, &pointer).map_err(failed)?;
    let owner = worktrees.and_then(Path::parent).and_then(|owner| canonical(owner).ok());
    if common.is_some() && common == owner {
        return Ok(common);
    }
    let message = format!(
        "cannot read the `.git` of `{shown}`: its Git directory is not in the repository that it names: \
         repair it (`git worktree repair`)"
    );
    Err(Error::new(ErrorCode::NotGranted, message))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    /// A directory with the files of repositories, made without Git.
    struct Scene(tempfile::TempDir);

    impl Scene {
        fn new() -> Self {
            let scene = Scene(tempfile::tempdir().expect("a directory"));
            scene.git_directory("main/.git");
            scene.write("main/.git/config", "[core]\n\tbare = false\n");
            scene
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().canonicalize().expect("a directory").join(name)
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.path(name);
            fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            fs::write(path, text).expect("a file");
        }

        fn git_directory(&self, name: &str) {
            self.write(&format!("{name}/HEAD"), "ref: refs/heads/main\n");
            for directory in ["objects", "refs"] {
                fs::create_dir_all(self.path(name).join(directory)).expect("a directory");
            }
        }

        /// Makes a worktree. Its Git directory is at `git_directory` and names `common` as the common
        /// directory.
        fn worktree(&self, name: &str, git_directory: &str, common: &str) {
            let target = self.path(git_directory);
            self.write(&format!("{name}/.git"), &format!("gitdir: {}\n", target.display()));
            self.write(&format!("{git_directory}/HEAD"), "ref: refs/heads/other\n");
            let back = self.path(name).join(".git");
            self.write(&format!("{git_directory}/gitdir"), &format!("{}\n", back.display()));
            self.write(&format!("{git_directory}/commondir"), &format!("{common}\n"));
        }

        fn common(&self, name: &str) -> Result<Option<PathBuf>, Error> {
            git_common_directory(&self.path(name))
        }
    }

    #[test]
    fn worktrees_have_the_common_directory_of_their_repository() {
        let scene = Scene::new();
        let common = scene.path("main/.git");
        scene.worktree("linked", "main/.git/worktrees/linked", "../..");
        let absolute = common.display().to_string();
        scene.worktree("other", "main/.git/worktrees/other1", &absolute);
        for worktree in ["main", "linked", "other"] {
            assert_eq!(scene.common(worktree).expect(worktree), Some(common.clone()), "{worktree}");
        }
    }

    #[test]
    fn a_bare_repository_is_its_own_common_directory() {
        let scene = Scene::new();
        scene.git_directory("bare.git");
        scene.worktree("linked", "bare.git/worktrees/linked", "../..");
        let bare = Some(scene.path("bare.git"));
        assert_eq!(scene.common("bare.git").expect("a repository"), bare);
        assert_eq!(scene.common("linked").expect("a worktree"), bare);
    }

    #[test]
    fn a_submodule_has_a_common_directory_of_its_own() {
        let scene = Scene::new();
        scene.git_directory("main/.git/modules/lib");
        scene.write("main/.git/modules/lib/config", "[core]\n\tworktree = ../../../lib\n");
        scene.write("main/lib/.git", "gitdir: ../.git/modules/lib\n");
        let own = Some(scene.path("main/.git/modules/lib"));
        assert_eq!(scene.common("main/lib").expect("a submodule"), own);
    }

    #[test]
    fn without_a_repository_there_is_none() {
        let scene = Scene::new();
        fs::create_dir(scene.path("plain")).expect("a directory");
        assert_eq!(scene.common("plain").expect("no repository"), None);
    }

    #[test]
    fn no_repository_passes_itself_off_as_a_worktree_of_another() {
        let scene = Scene::new();
        let of_another = scene.path("main/.git").display().to_string();
        // These have their own Git directories, which name another repository's common directory.
        scene.worktree("stranger", "stranger/git", &of_another);
        scene.worktree("deeper", "deeper/git/worktrees/deeper", &of_another);
        // `thief` names the Git directory of another worktree, which does not point back to `thief`.
        scene.worktree("linked", "main/.git/worktrees/linked", "../..");
        let target = scene.path("main/.git/worktrees/linked");
        scene.write("thief/.git", &format!("gitdir: {}\n", target.display()));
        for name in ["stranger", "deeper", "thief"] {
            let error = scene.common(name).expect_err(name);
            assert_eq!(error.code, ErrorCode::NotGranted, "{name}");
            assert!(error.message.contains("git worktree repair"), "{name}: {}", error.message);
        }
        // A `.git` directory that names another common directory is not believed.
        scene.git_directory("liar/.git");
        scene.write("liar/.git/commondir", &of_another);
        let own = Some(scene.path("liar/.git"));
        assert_eq!(scene.common("liar").expect("a repository"), own);
    }
}
