//! The README's table, which stands between two marks.

use std::path::Path;
use std::{fs, io};

const BEGIN: &str = "<!-- bench -->\n";
const END: &str = "<!-- end of bench -->\n";

/// Puts text in the place of what stands between the marks.
///
/// # Errors
///
/// Where the file cannot be read or written, or has no marks.
pub fn write(readme: &Path, text: &str) -> io::Result<()> {
    let page = replaced(&fs::read_to_string(readme)?, text).ok_or_else(|| {
        let (path, begin, end) = (readme.display(), BEGIN.trim_end(), END.trim_end());
        io::Error::other(format!("`{path}` lacks the lines `{begin}` and `{end}`, in this order"))
    })?;
    fs::write(readme, page)
}

fn replaced(page: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{text}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_the_marks_is_replaced_and_all_else_kept() {
        let page = format!("a\n{BEGIN}old\n{END}b\n");
        let written = replaced(&page, "new\n").expect("the marks are there");
        assert_eq!(written, format!("a\n{BEGIN}\nnew\n\n{END}b\n"));
        assert_eq!(replaced(&written, "new\n").as_ref(), Some(&written));
        assert_eq!(replaced(&format!("{END}{BEGIN}"), "new"), None);
    }
}
