//! The changes of a file, as a diff for people.

/// How many lines around a change are shown.
const AROUND: usize = 3;

/// The maximum number of pairs of lines that are compared. With more pairs, all lines between the first
/// and the last change are shown as changed.
const MAX_PAIRS: usize = 4_000_000;

/// The changed lines and the lines around them. Each line begins with `-`, `+` or a blank. A line `...`
/// stands for lines that are left out.
pub(crate) fn diff(before: &str, after: &str) -> String {
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let lines = changes(&old, &new);
    let is_changed = |(sign, _): &&(char, &str)| *sign != ' ';
    let mut text = String::new();
    let mut shown = 0;
    for (at, (sign, line)) in lines.iter().enumerate() {
        let around = &lines[at.saturating_sub(AROUND)..(at + AROUND + 1).min(lines.len())];
        if !around.iter().any(|line| is_changed(&line)) {
            continue;
        }
        if shown > 0 && shown < at {
            text += "...\n";
        }
        text += &format!("{sign} {line}\n");
        shown = at + 1;
    }
    text
}

/// All lines of both texts, each with its sign: `-` removed, `+` added, blank in both.
fn changes<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(old, new)| old == new).count()
    };
    let start = same(&mut old.iter().zip(new));
    let end = same(&mut old[start..].iter().rev().zip(new[start..].iter().rev()));
    let removed = &old[start..old.len() - end];
    let added = &new[start..new.len() - end];
    let signed = |sign: char| move |line: &&'a str| (sign, *line);
    let mut lines: Vec<_> = old[..start].iter().map(signed(' ')).collect();
    if removed.len() * added.len() > MAX_PAIRS {
        lines.extend(removed.iter().map(signed('-')).chain(added.iter().map(signed('+'))));
    } else {
        lines.extend(between(removed, added));
    }
    lines.extend(old[old.len() - end..].iter().map(signed(' ')));
    lines
}

/// All lines of both texts with their signs, by the longest common subsequence of lines.
fn between<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    // For each pair of lines, the length of the longest common subsequence of the lines from there to
    // the end.
    let mut common = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for (from, line) in old.iter().enumerate().rev() {
        for (to, other) in new.iter().enumerate().rev() {
            common[from][to] = if line == other {
                common[from + 1][to + 1] + 1
            } else {
                common[from + 1][to].max(common[from][to + 1])
            };
        }
    }
    let mut from = 0;
    let mut to = 0;
    let mut lines = Vec::new();
    while from < old.len() || to < new.len() {
        let is_removed =
            to == new.len() || from < old.len() && common[from + 1][to] >= common[from][to + 1];
        if from < old.len() && to < new.len() && old[from] == new[to] {
            lines.push((' ', old[from]));
            (from, to) = (from + 1, to + 1);
        } else if is_removed {
            lines.push(('-', old[from]));
            from += 1;
        } else {
            lines.push(('+', new[to]));
            to += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn the_changed_lines_are_shown_with_three_around_them() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let after = "a\nb\nc\nd\nE\nE2\nf\ng\nh\n";
        assert_eq!(diff(before, after), "  b\n  c\n  d\n- e\n+ E\n+ E2\n  f\n  g\n  h\n");
        let apart = diff("a\nb\nc\nd\ne\nf\ng\nh\ni\n", "A\nb\nc\nd\ne\nf\ng\nh\nI\n");
        assert_eq!(apart, "- a\n+ A\n  b\n  c\n  d\n...\n  f\n  g\n  h\n- i\n+ I\n");
        assert_eq!(diff("a\n", "a\n"), "");
        assert_eq!(diff("", "a\n"), "+ a\n");
        assert_eq!(diff("a\n", ""), "- a\n");
        assert_eq!(diff("a\na\n", "a\na\na\n"), "  a\n  a\n+ a\n");
    }
}
