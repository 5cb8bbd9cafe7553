//! Finds the days that a question asks for, such as "yesterday", "am Dienstag" or "3月".
//!
//! Understands English, German, French, Spanish and Japanese. A day without a year is always in the
//! past, because memory has no entries of the future.

mod calendar;
mod japanese;
mod named;
mod phrases;
mod range;
mod reader;
mod token;
mod words;

use self::calendar::Days;
use self::reader::Reader;
use crate::ranking::Language;
use crate::time::Date;

/// The days that a question asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AskedDays {
    pub days: Vec<Days>,
    /// The question without relative words such as "yesterday". A search for such a word would
    /// mislead: in an entry, it means another day.
    pub rest: String,
    /// The question without any words for days.
    pub beside: String,
}

impl AskedDays {
    /// Finds the days in a question that is asked on the day `today`.
    pub fn from_question(question: &str, today: Date) -> Self {
        let languages = Language::all_of(question);
        let is_french =
            languages.contains(&Language::French) && !languages.contains(&Language::German);
        let mut reader = Reader::new(today, is_french);
        reader.read_all(question);
        japanese::read(question, &mut reader);
        let Reader { mut days, is_range, relative, named, .. } = reader;
        days.sort_unstable();
        days.dedup();
        if let (true, [first, second]) = (is_range, &days[..]) {
            days = vec![(first.0, first.1.max(second.1))];
        }
        let rest = without(question, relative.clone());
        let beside = without(question, relative.into_iter().chain(named).collect());
        Self { days, rest, beside }
    }
}

/// Returns the text without these byte ranges.
fn without(text: &str, mut ranges: Vec<(usize, usize)>) -> String {
    ranges.sort_unstable();
    let mut rest = String::new();
    let mut at = 0;
    for (start, end) in ranges {
        rest += text.get(at..start).unwrap_or_default();
        at = at.max(end);
    }
    rest + text.get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Thursday.
    const TODAY: &str = "2026-11-26";

    fn asked(question: &str) -> AskedDays {
        AskedDays::from_question(question, Date::parse(TODAY).expect(TODAY))
    }

    fn days(question: &str) -> String {
        let days = asked(question).days.into_iter().map(|(first, last)| {
            if first == last { first.to_string() } else { format!("{first}..{last}") }
        });
        days.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_question_asks_for_days_in_five_languages() {
        for (question, expected) in [
            ("What did we do yesterday?", "2026-11-25"),
            ("the day before yesterday", "2026-11-24"),
            ("Was haben wir gestern beschlossen?", "2026-11-25"),
            ("Vorgestern?", "2026-11-24"),
            ("Qu'est-ce qu'on a fait hier ?", "2026-11-25"),
            ("avant-hier", "2026-11-24"),
            ("aujourd’hui", "2026-11-26"),
            ("¿Qué hicimos ayer?", "2026-11-25"),
            ("昨日は何をしましたか", "2026-11-25"),
            ("一昨日", "2026-11-24"),
            ("last week", "2026-11-16..2026-11-22"),
            ("in dieser Woche", "2026-11-23..2026-11-29"),
            ("la semaine dernière", "2026-11-16..2026-11-22"),
            ("el mes pasado", "2026-10-01..2026-10-31"),
            ("先週", "2026-11-16..2026-11-22"),
            ("last year", "2025-01-01..2025-12-31"),
            ("3 days ago", "2026-11-23"),
            ("a month ago", "2026-10-01..2026-10-31"),
            ("vor zwei Wochen", "2026-11-09..2026-11-15"),
            ("il y a 3 jours", "2026-11-23"),
            ("hace dos días", "2026-11-24"),
            ("3日前", "2026-11-23"),
            ("on Tuesday", "2026-11-24"),
            ("last Friday", "2026-11-20"),
            ("am Donnerstag", "2026-11-26"),
            ("mardi", "2026-11-24"),
            ("el miércoles", "2026-11-25"),
            ("火曜日に", "2026-11-24"),
            ("in March", "2026-03-01..2026-03-31"),
            ("in December", "2025-12-01..2025-12-31"),
            ("im März", "2026-03-01..2026-03-31"),
            ("en marzo de 2024", "2024-03-01..2024-03-31"),
            ("en mars", "2026-03-01..2026-03-31"),
            ("3月に", "2026-03-01..2026-03-31"),
            ("2024年3月", "2024-03-01..2024-03-31"),
            ("2024年", "2024-01-01..2024-12-31"),
            ("３月５日", "2026-03-05"),
            ("March 5th, 2024", "2024-03-05"),
            ("on the 5th of May", "2026-05-05"),
            ("am 24. Dezember", "2025-12-24"),
            ("le 1er août 2025", "2025-08-01"),
            ("5 de marzo", "2026-03-05"),
            ("31 February", "2026-02-01..2026-02-28"),
            ("2024-02-29", "2024-02-29"),
            ("in 2023", "2023-01-01..2023-12-31"),
            ("between March 5 and May 7", "2026-03-05..2026-05-07"),
            ("between 5 March and 7 March 2025", "2025-03-05..2025-03-07"),
            ("from October to March", "2025-10-01..2026-03-31"),
            ("between march and may 2024", "2024-03-01..2024-05-31"),
            ("from 30 December 2023 to 2 January 2024", "2023-12-30..2024-01-02"),
            ("from December 30 to January 2, 2024", "2023-12-30..2024-01-02"),
            ("March 5-7, 2025", "2025-03-05..2025-03-07"),
            ("from the 5th to the 7th of March", "2026-03-05..2026-03-07"),
            ("between 2023 and 2025", "2023-01-01..2025-12-31"),
            ("from 2024-03-05 until 2024-03-07", "2024-03-05..2024-03-07"),
            ("from Friday to Monday", "2026-11-20..2026-11-23"),
            ("vom 5. bis 7. März", "2026-03-05..2026-03-07"),
            ("vom 5. März bis zum 7. April 2025", "2025-03-05..2025-04-07"),
            ("von Montag bis Freitag", "2026-11-16..2026-11-20"),
            ("entre le 5 et le 7 mars 2025", "2025-03-05..2025-03-07"),
            ("du 5 au 7 mars", "2026-03-05..2026-03-07"),
            ("del 5 al 7 de marzo de 2025", "2025-03-05..2025-03-07"),
            ("desde enero hasta marzo de 2024", "2024-01-01..2024-03-31"),
            ("from Tuesday to Thursday last week", "2026-11-17..2026-11-19"),
            ("between 20 and 30 November", "2026-11-20..2026-11-30"),
            ("from 30 December 2023 to 2 January", "2023-12-30..2024-01-02"),
            ("from March 2024 to May", "2024-03-01..2024-05-31"),
            ("January to March", "2026-01-01..2026-03-31"),
            ("vom 5.–7. März", "2026-03-05..2026-03-07"),
            ("5 March – 7 March", "2026-03-05..2026-03-07"),
            ("between March 5 and 7?", "2026-03-05..2026-03-07"),
            ("between March 5 and 3 days ago", "2026-03-05..2026-11-23"),
            ("la réunion du 5 mars à 10 heures", "2026-03-05"),
            ("del 5 de marzo a la 1", "2026-03-05"),
            ("am 5. März bis 10 Uhr", "2026-03-05"),
            ("Did we move on March 5 to 3.12?", "2026-03-05"),
            ("upgraded on June 5 to 18.04", "2026-06-05"),
            ("sent on March 5 to 12 customers", "2026-03-05"),
            ("en marzo, y desde ayer", "2026-03-01..2026-03-31 2026-11-25..2026-11-26"),
            ("5 to 7 March 2025", "2025-03-05..2025-03-07"),
            ("5 March — 7 March", "2026-03-05..2026-03-07"),
            ("29 February", "2024-02-29"),
            ("March 5 and March 7, 2024", "2024-03-07 2026-03-05"),
            ("yesterday or in March", "2026-03-01..2026-03-31 2026-11-25"),
            ("last Thursday", "2026-11-19"),
            ("jeudi dernier", "2026-11-19"),
            ("Tuesday last week", "2026-11-17"),
            ("last week on Tuesday", "2026-11-17"),
            ("letzte Woche Dienstag", "2026-11-17"),
            ("vorletzte Woche", "2026-11-09..2026-11-15"),
            ("the week before last", "2026-11-09..2026-11-15"),
            ("Monday through Wednesday", "2026-11-23..2026-11-25"),
            ("antes de ayer", "2026-11-24"),
            ("anoche", "2026-11-25"),
            ("la nuit dernière", "2026-11-25"),
            ("一昨年", "2024-01-01..2024-12-31"),
            ("先々週", "2026-11-09..2026-11-15"),
            ("今朝", "2026-11-26"),
            ("am Dienstag letzter Woche", "2026-11-17"),
            ("先週の月曜日", "2026-11-16"),
            ("since Monday", "2026-11-23..2026-11-26"),
            ("seit März", "2026-03-01..2026-11-26"),
            ("depuis 2025", "2025-01-01..2026-11-26"),
            ("four days ago", "2026-11-22"),
            ("vor fünf Tagen", "2026-11-21"),
            ("3ヶ月前", "2026-08-01..2026-08-31"),
            ("20.11.2026", "2026-11-20"),
            ("2026-11-20T10:00", "2026-11-20"),
            ("2026-10", "2026-10-01..2026-10-31"),
            ("5 mai", "2026-05-05"),
            ("yesterday after lunch", "2026-11-25"),
        ] {
            assert_eq!(days(question), expected, "{question}");
        }
    }

    #[test]
    fn other_words_and_numbers_ask_for_no_day() {
        for question in [
            "May I march to Mars?",
            "Was ist hier passiert?",
            "Is there mayo?",
            "Who is April?",
            "three weeks of work",
            "version 2024",
            "2024-02-30",
            "port 8080",
            "5 apples",
            "a 10年",
            "99999999999999999999年",
            "900000 years ago",
            "this may fail",
            "chapter 5 may help",
            "in mars rover",
            "in 2025 tests passed",
            "next Tuesday",
            "nächsten Dienstag",
            "every Monday to Friday",
            "from 5 to 7",
            "tests 5-7 may fail",
            "du 5 au 7 mars prochain",
            "ports 80 to 90",
            "from 2000 to 2048?",
            "from may to help",
            "between 2 and 2025 requests",
            "bis Freitag",
            "before yesterday",
            "after March 5",
            "来年3月",
            "mardi prochain",
            "毎週月曜日",
            "日本日誌",
            "",
        ] {
            let days = days(question);
            assert!(days.is_empty(), "{question}: {days}");
        }
    }

    #[test]
    fn words_that_mean_another_day_elsewhere_are_no_words_of_the_question() {
        for (question, rest) in [
            ("What broke yesterday?", "What broke ?"),
            ("昨日のビルド", "のビルド"),
            ("the build of March 5", "the build of March 5"),
            ("the talk last Tuesday", "the talk  Tuesday"),
            ("vor 3 Tagen gestern", " "),
        ] {
            assert_eq!(asked(question).rest, rest, "{question}");
        }
    }

    #[test]
    fn what_a_question_says_beside_its_days() {
        for (question, beside) in [
            ("What broke on March 5th, 2024?", "What broke on ?"),
            ("the talk last Tuesday", "the talk  "),
            ("¿Qué hicimos el 20 de noviembre?", "¿Qué hicimos el ?"),
            ("11月20日に何をしましたか", "に何をしましたか"),
            ("火曜日のビルド", "のビルド"),
            ("20 requests", "20 requests"),
        ] {
            assert_eq!(asked(question).beside, beside, "{question}");
        }
    }

    #[test]
    fn every_beginning_of_a_question_can_be_read() {
        let all = "2024年3月5日前 昨日 vor zwei Wochen, il y a un mois; 3 days ago on March 5th of 2024-02-29";
        for (end, _) in all.char_indices() {
            AskedDays::from_question(&all[..end], Date::parse("0000-01-01").expect("a day"));
            AskedDays::from_question(&all[end..], Date::parse("9999-12-31").expect("a day"));
        }
    }
}
