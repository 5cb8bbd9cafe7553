//! The changes of a file, for people.

/// How many lines around a change are shown.
const AROUND: usize = 3;

/// The changed lines with those around them: each begins with `-`, `+` or a blank. Our changes are one
/// piece, so there is one.
pub(crate) fn diff(before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(old, new)| old == new).count()
    };
    let start = same(&mut old.iter().zip(&new));
    let end = same(&mut old[start..].iter().rev().zip(new[start..].iter().rev()));
    let old_end = old.len() - end;
    let new_end = new.len() - end;
    let mut shown = Vec::new();
    shown.extend(old[start.saturating_sub(AROUND)..start].iter().map(|line| (' ', line)));
    shown.extend(old[start..old_end].iter().map(|line| ('-', line)));
    shown.extend(new[start..new_end].iter().map(|line| ('+', line)));
    shown.extend(new[new_end..(new_end + AROUND).min(new.len())].iter().map(|line| (' ', line)));
    shown.iter().map(|(sign, line)| format!("{sign} {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn the_changed_lines_are_shown_with_three_around_them() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let after = "a\nb\nc\nd\nE\nE2\nf\ng\nh\n";
        assert_eq!(diff(before, after), "  b\n  c\n  d\n- e\n+ E\n+ E2\n  f\n  g\n  h\n");
        assert_eq!(diff("a\n", "a\n"), "");
        assert_eq!(diff("", "a\n"), "+ a\n");
        assert_eq!(diff("a\n", ""), "- a\n");
        assert_eq!(diff("a\na\n", "a\na\na\n"), "  a\n  a\n+ a\n");
    }
}
