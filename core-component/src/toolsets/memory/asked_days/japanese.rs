//! Finds days in Japanese text, which has no spaces between words.

use super::calendar::{Days, Unit, latest, latest_weekday, of_year, span, weekday_of};
use super::reader::Reader;
use super::token::YEARS;
use crate::time::Date;
use crate::words::plain;

/// Words for days and spans: the unit, and how many units ago. A word that contains another word
/// comes first, so that it is found first.
const JAPANESE: &[(&str, Unit, i64)] = &[
    ("一昨年", Unit::Year, 2),
    ("一昨日", Unit::Day, 2),
    ("おととい", Unit::Day, 2),
    ("昨日", Unit::Day, 1),
    ("きのう", Unit::Day, 1),
    ("昨夜", Unit::Day, 1),
    ("昨晩", Unit::Day, 1),
    ("今日", Unit::Day, 0),
    ("今朝", Unit::Day, 0),
    ("本日", Unit::Day, 0),
    ("先々週", Unit::Week, 2),
    ("先々月", Unit::Month, 2),
    ("今週", Unit::Week, 0),
    ("先週", Unit::Week, 1),
    ("今月", Unit::Month, 0),
    ("先月", Unit::Month, 1),
    ("今年", Unit::Year, 0),
    ("去年", Unit::Year, 1),
    ("昨年", Unit::Year, 1),
];

/// The days of the week, from Monday.
const JAPANESE_WEEKDAYS: [&str; 7] = ["月曜", "火曜", "水曜", "木曜", "金曜", "土曜", "日曜"];

/// The words for "ago" that follow a number, with their units.
const AGO: [(&str, Unit); 7] = [
    ("日前", Unit::Day),
    ("週間前", Unit::Week),
    ("か月前", Unit::Month),
    ("ヶ月前", Unit::Month),
    ("ヵ月前", Unit::Month),
    ("カ月前", Unit::Month),
    ("年前", Unit::Year),
];

/// Words for the future.
const FUTURE: [&str; 5] = ["来週", "来月", "来年", "明日", "次の"];

/// Words that contain one of the words for days, but do not name a day.
const OTHER: [&str; 2] = ["日本日", "毎週"];

/// Finds all days in a question. Finds none if the question has a word of [`FUTURE`] or [`OTHER`].
pub(super) fn read(question: &str, reader: &mut Reader) {
    if FUTURE.iter().chain(&OTHER).any(|word| question.contains(word)) {
        return;
    }
    let mut rest = question.to_owned();
    for (weekday, name) in JAPANESE_WEEKDAYS.iter().enumerate() {
        for (week, weeks) in [("今週の", 0), ("先週の", 1)] {
            let phrase = format!("{week}{name}");
            if let Some(start) = rest.find(&phrase) {
                let end = start + phrase.len();
                reader.add_relative(weekday_of(reader.today, weeks, weekday), start, end);
                rest.replace_range(start..end, &" ".repeat(phrase.len()));
            }
        }
    }
    for (phrase, unit, units) in JAPANESE {
        while let Some(start) = rest.find(phrase) {
            reader.add_relative(span(reader.today, *unit, *units), start, start + phrase.len());
            rest.replace_range(start..start + phrase.len(), &" ".repeat(phrase.len()));
        }
    }
    for (weekday, name) in JAPANESE_WEEKDAYS.iter().enumerate() {
        if let Some(start) = rest.find(name) {
            let end = start + name.len();
            let end = end + if rest[end..].starts_with('日') { '日'.len_utf8() } else { 0 };
            reader.add_named(latest_weekday(reader.today, weekday), start, end);
        }
    }
    let mut from = 0;
    while let Some(start) = rest[from..].find(is_digit) {
        from = read_number(&rest, from + start, reader);
    }
}

fn is_digit(character: char) -> bool {
    character.is_ascii_digit() || ('０'..='９').contains(&character)
}

/// Reads days that begin with a number, such as 3月, 3月5日, 2024年3月 or 3日前. Returns where the text
/// that was read ends, even if it was only a number.
fn read_number(text: &str, start: usize, reader: &mut Reader) -> usize {
    let mut at = start;
    let mut year = None;
    let mut month = None;
    let mut day = None;
    while text[at..].starts_with(is_digit) {
        let digits = text[at..].find(|c| !is_digit(c)).unwrap_or(text.len() - at);
        let number: Option<i64> = plain(&text[at..at + digits]).parse().ok();
        at += digits;
        let Some(number) = number else { break };
        if let Some((word, unit)) = AGO.into_iter().find(|(word, _)| text[at..].starts_with(word)) {
            reader.add_relative(span(reader.today, unit, number), start, at + word.len());
            return at + word.len();
        }
        let (field, unit) = match text[at..].chars().next() {
            Some(unit @ '年') => (&mut year, unit),
            Some(unit @ '月') => (&mut month, unit),
            Some(unit @ '日') => (&mut day, unit),
            _ => break,
        };
        *field = Some(number);
        at += unit.len_utf8();
    }
    reader.add_named(days(reader.today, year, month, day), start, at);
    at
}

fn days(today: Date, year: Option<i64>, month: Option<i64>, day: Option<i64>) -> Option<Days> {
    let year = year.filter(|year| YEARS.contains(year));
    let Some(month) = month else { return year.and_then(of_year) };
    let date = |year| Date::new(year, month, day.unwrap_or(1));
    let first = year.map_or_else(|| latest(today, date), date)?;
    Some((first, if day.is_some() { first } else { first.last_of_month() }))
}
