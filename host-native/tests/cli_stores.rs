//! `agent-memory store`: registering stores; listing, showing and editing memories.

mod process;
mod store;

use serde_json::{Value, json};
use std::fs;
use store::{DEPLOY, NOW, Scratch, fails, kept, stderr, stdout, succeeds};

const FILE: &str = "team/notes/deploy.md";

fn with_deploy() -> Scratch {
    let scratch = Scratch::new();
    scratch.put(FILE, DEPLOY);
    assert_eq!(scratch.run(&["reindex", "team"]).status.code(), Some(0));
    scratch
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn stores_are_added_to_a_registry_with_a_byte_order_mark_and_listed() {
    let scratch = Scratch::new();
    let registry =
        "\u{feff}# Ours\nstores:\n  old: {kind: filesystem, properties: {path: /no/where}}\n";
    scratch.put("data/stores.yaml", registry);
    let store = scratch.store();
    let store = store.to_str().expect("UTF-8");
    let added = scratch.run(&["add", "team", store, "--description", "Ours"]);
    succeeds(&added, &format!("{store}\n"), "");
    let text = scratch.text("data/stores.yaml");
    assert!(text.starts_with(registry), "{text}");

    let listed = scratch.run(&["list"]);
    assert_eq!(stdout(&listed), format!("old\t/no/where\nteam\t{store}\n"));
    assert!(stderr(&listed).contains("/no/where"), "{listed:?}");
    let listed = json_of(stdout(&scratch.run(&["list", "--json"])));
    let expected = json!({"name": "team", "path": store, "description": "Ours",
        "directory": store, "error": null});
    assert_eq!(listed["stores"][1], expected);
    assert_eq!(listed["stores"][0]["directory"], Value::Null);

    let removed = scratch.run(&["remove", "team"]);
    succeeds(&removed, "", "store `team` is registered no more; its files stay\n");
    assert_eq!(scratch.text("data/stores.yaml"), registry);
}

#[test]
fn memories_are_listed_by_category_with_their_time_and_length() {
    let scratch = with_deploy();
    scratch.put("team/notes/old/key.md", "---\nexpires_at: 2025-01-01\n---\nOld");
    scratch.put(
        "team/notes/index.yaml",
        "memories: []\nsubcategories:\n  - path: notes/old\n    \
        description: |\n      Old\n      ones\n",
    );
    assert_eq!(scratch.run(&["reindex", "team"]).status.code(), Some(0));
    let deploy = "notes/deploy\t2025-01-10T08:00:00.000Z\t5 tokens\n";
    succeeds(&scratch.run(&["list", "team"]), "notes/\t1 memory\n", "");
    let below = "notes/\t1 memory\nnotes/old/\t1 memory\tOld ones\n";
    succeeds(&scratch.run(&["list", "team", "--recursive"]), &format!("{below}{deploy}"), "");
    let old = "notes/old/key\t-\t1 token\texpires 2025-01-01T23:59:59.999Z\n";
    let all = scratch.run(&["list", "team", "--recursive", "--include-expired"]);
    succeeds(&all, &format!("{below}{deploy}{old}"), "");
    let one = scratch.run(&["list", "team", "--recursive", "--include-expired", "--limit", "1"]);
    let more = "there are more than these 1: raise `--limit`, or name a category\n";
    succeeds(&one, &format!("{below}{deploy}"), more);
    let listed = json_of(stdout(&scratch.run(&["list", "team", "notes", "--json"])));
    assert_eq!(listed["memories"][0]["path"], "notes/deploy");
    assert_eq!(listed["category"], "notes");

    fails(&scratch.run(&["list", "team", "nothing"]), 1, &["no category `nothing`"]);
    fails(&scratch.run(&["list", "taem"]), 1, &["no store `taem`", "`team`"]);
    fails(&scratch.run(&["list", "team", "--limit", "0"]), 1, &["`/limit`"]);
    fails(&scratch.run(&["list", "--recursive"]), 2, &["<NAME>"]);
}

#[test]
fn a_memory_is_shown_byte_for_byte_or_as_json() {
    let scratch = with_deploy();
    succeeds(&scratch.run(&["show", "team", "notes/deploy"]), DEPLOY, "");
    let shown = json_of(stdout(&scratch.run(&["show", "team", "notes/deploy", "--json"])));
    assert_eq!(shown["content"], "Deploy on Tuesdays.\n");
    assert_eq!(shown["metadata"]["tags"], json!(["ops"]));

    let expired = "---\r\nexpires_at: 2025-01-01\r\n---\r\nOld";
    scratch.put("team/old.md", expired);
    succeeds(&scratch.run(&["show", "team", "old"]), expired, "");
    let shown = json_of(stdout(&scratch.run(&["show", "team", "old", "--json"])));
    assert_eq!(shown["content"], "Old");
    fails(&scratch.run(&["show", "team", "Notes/deploy"]), 1, &["use `notes/deploy`"]);
    let missing = "no memory `notes/nothing`: `agent-memory store list team --recursive`";
    fails(&scratch.run(&["show", "team", "notes/nothing"]), 1, &[missing]);
}

#[cfg(unix)]
mod editing {
    use super::*;

    #[test]
    fn an_edited_memory_is_written_with_its_index() {
        let scratch = with_deploy();
        let edited = scratch.edit("sed -i.old s/Tues/Wednes/ \"$1\"", &[]);
        succeeds(&edited, "", "`notes/deploy` is written\n");
        let text = DEPLOY.replace("Tues", "Wednes");
        let text =
            text.replace("updated_at: 2025-01-10T08:00:00.000Z", &format!("updated_at: {NOW}"));
        assert_eq!(scratch.text(FILE), text);
        let listed = stdout(&scratch.run(&["list", "team", "notes"])).to_owned();
        assert_eq!(listed, format!("notes/deploy\t{NOW}\t6 tokens\n"));
        assert!(scratch.has_no_draft());
    }

    #[test]
    fn the_editor_is_a_command_line_and_gets_a_private_copy_with_the_name_of_the_memory() {
        let scratch = with_deploy();
        let script = "#!/bin/sh\necho \"$1|$2|$(basename \"$3\")|$#\" >>seen\nls -ld \"$3\" \"$(dirname \
            \"$3\")\" | cut -c1-10 >>seen\n";
        scratch.put("my editors/editor", script);
        let mut command = scratch.command(&["edit", "team", "notes/deploy"]);
        command.env("VISUAL", "sh 'my editors/editor' --wait 'a b'").env("EDITOR", "false");
        let unchanged = "`notes/deploy` is unchanged: nothing was written\n";
        succeeds(&command.output().expect("it runs"), "", unchanged);
        assert_eq!(scratch.text("seen"), "--wait|a b|deploy.md|3\ndrwx------\n-rw-------\n");
        assert_eq!(scratch.text(FILE), DEPLOY);
        assert!(scratch.has_no_draft());
    }

    #[test]
    fn an_editor_that_fails_writes_nothing_and_loses_no_text() {
        let scratch = with_deploy();
        let failed = scratch.edit("return 3", &[]);
        fails(&failed, 1, &["exit status: 3", "nothing was written"]);
        assert!(scratch.has_no_draft());
        let mut command = scratch.command(&["edit", "team", "notes/deploy"]);
        let missing = command.env("EDITOR", "no-such-editor").output().expect("it runs");
        fails(&missing, 2, &["`no-such-editor` cannot be started", "set `VISUAL` or `EDITOR`"]);
        assert!(scratch.has_no_draft());

        let failed = scratch.edit("echo more >>\"$1\"; return 3", &[]);
        fails(&failed, 1, &["exit status: 3", "nothing was written", "is kept"]);
        let text = fs::read_to_string(kept(&failed)).expect("the text");
        assert_eq!(text, format!("{DEPLOY}more\n"));
        assert_eq!(scratch.text(FILE), DEPLOY);
    }

    #[test]
    fn a_text_that_is_refused_is_kept_and_the_next_edit_goes_on_with_it() {
        let scratch = with_deploy();
        for (script, reason) in [
            ("printf -- '---\\n[\\n---\\nMine\\n' >\"$1\"", "line 3 of `notes/deploy.md`"),
            ("printf 'a\\377' >\"$1\"", "is not UTF-8"),
            (": >\"$1\"", "not blank"),
            ("rm \"$1\"", "cannot be read"),
        ] {
            let refused = scratch.edit(script, &[]);
            fails(&refused, 1, &[reason]);
            assert_eq!(stderr(&refused).contains("is kept"), !script.starts_with("rm"));
            assert_eq!(scratch.text(FILE), DEPLOY);
        }
        let refused = scratch.edit("printf -- '---\\n[\\n---\\nMine\\n' >\"$1\"", &[]);
        let file = kept(&refused);
        let file = file.to_str().expect("UTF-8");
        assert!(file.ends_with("/deploy.md"), "{file}");
        let edited = scratch.edit("sed -i.old 's/^\\[/tags: [mine]/' \"$1\"", &["--from", file]);
        succeeds(&edited, "", "`notes/deploy` is written\n");
        let text = scratch.text(FILE);
        assert!(text.contains("tags: [mine]") && text.ends_with("---\nMine\n"), "{text}");
        fails(
            &scratch.edit("true", &["--from", "nothing.md"]),
            2,
            &["`nothing.md` cannot be read"],
        );
        // An edit can also begin with the text of any file.
        scratch.put("own.md", "Own\n");
        let edited = scratch.edit("true", &["--from", "own.md"]);
        succeeds(&edited, "", "`notes/deploy` is written\n");
        assert!(scratch.text(FILE).ends_with("\nsource: user\n---\nOwn\n"));
    }

    #[test]
    fn a_memory_that_changed_meanwhile_is_not_overwritten_unawares() {
        let scratch = with_deploy();
        let theirs = DEPLOY.replace("Tues", "Thurs");
        scratch.put("theirs.md", &theirs);
        let change = "cp theirs.md team/notes/deploy.md; echo Mine >\"$1\"";
        let overtaken = scratch.edit(change, &[]);
        fails(&overtaken, 1, &["has changed since", "store show team notes/deploy", "is kept"]);
        assert_eq!(scratch.text(FILE), theirs);
        // The message reported the change, so the next edit of the same text replaces it.
        let file = kept(&overtaken);
        let edited = scratch.edit("true", &["--from", file.to_str().expect("UTF-8")]);
        succeeds(&edited, "", "`notes/deploy` is written\n");
        assert!(scratch.text(FILE).ends_with("---\nMine\n"));

        // A text that was refused does not replace a later change, of which its author does not know.
        let refused = scratch.edit("printf -- '---\\n[\\n---\\n' >\"$1\"", &[]);
        let file = kept(&refused);
        scratch.put(FILE, &theirs);
        let file = file.to_str().expect("UTF-8");
        let overtaken = scratch.edit("echo Mine >\"$1\"", &["--from", file]);
        fails(&overtaken, 1, &["has changed since"]);
        assert_eq!(scratch.text(FILE), theirs);
    }

    #[test]
    fn ctrl_c_is_left_to_the_editor() {
        let scratch = with_deploy();
        let edited = scratch.edit("kill -INT $PPID; sleep 0.2; echo more >>\"$1\"", &[]);
        succeeds(&edited, "", "`notes/deploy` is written\n");
        assert!(scratch.text(FILE).ends_with("Deploy on Tuesdays.\nmore\n"));
    }
}
