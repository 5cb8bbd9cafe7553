//! The words for days in English, German, French and Spanish, in plain form: without case and
//! marks.

use super::calendar::Unit;

/// Phrases for a day or span relative to today: the unit, and how many units ago.
pub(super) const PHRASES: &[(&str, Unit, i64)] = &[
    ("day before yesterday", Unit::Day, 2),
    ("yesterday", Unit::Day, 1),
    ("last night", Unit::Day, 1),
    ("today", Unit::Day, 0),
    ("this morning", Unit::Day, 0),
    ("this week", Unit::Week, 0),
    ("last week", Unit::Week, 1),
    ("week before last", Unit::Week, 2),
    ("previous week", Unit::Week, 1),
    ("this month", Unit::Month, 0),
    ("last month", Unit::Month, 1),
    ("this year", Unit::Year, 0),
    ("last year", Unit::Year, 1),
    ("vorgestern", Unit::Day, 2),
    ("gestern", Unit::Day, 1),
    ("heute", Unit::Day, 0),
    ("diese woche", Unit::Week, 0),
    ("dieser woche", Unit::Week, 0),
    ("letzte woche", Unit::Week, 1),
    ("letzter woche", Unit::Week, 1),
    ("vorige woche", Unit::Week, 1),
    ("vergangene woche", Unit::Week, 1),
    ("vergangener woche", Unit::Week, 1),
    ("vorletzte woche", Unit::Week, 2),
    ("vorletzter woche", Unit::Week, 2),
    ("diesen monat", Unit::Month, 0),
    ("diesem monat", Unit::Month, 0),
    ("letzten monat", Unit::Month, 1),
    ("letztem monat", Unit::Month, 1),
    ("vergangenen monat", Unit::Month, 1),
    ("dieses jahr", Unit::Year, 0),
    ("diesem jahr", Unit::Year, 0),
    ("letztes jahr", Unit::Year, 1),
    ("letzten jahr", Unit::Year, 1),
    ("avant hier", Unit::Day, 2),
    ("hier", Unit::Day, 1),
    ("nuit derniere", Unit::Day, 1),
    ("aujourd hui", Unit::Day, 0),
    ("ce matin", Unit::Day, 0),
    ("cette semaine", Unit::Week, 0),
    ("semaine derniere", Unit::Week, 1),
    ("semaine passee", Unit::Week, 1),
    ("ce mois", Unit::Month, 0),
    ("mois dernier", Unit::Month, 1),
    ("mois passe", Unit::Month, 1),
    ("cette annee", Unit::Year, 0),
    ("annee derniere", Unit::Year, 1),
    ("an dernier", Unit::Year, 1),
    ("antes de ayer", Unit::Day, 2),
    ("anteayer", Unit::Day, 2),
    ("antier", Unit::Day, 2),
    ("anoche", Unit::Day, 1),
    ("esta manana", Unit::Day, 0),
    ("ayer", Unit::Day, 1),
    ("hoy", Unit::Day, 0),
    ("esta semana", Unit::Week, 0),
    ("semana pasada", Unit::Week, 1),
    ("este mes", Unit::Month, 0),
    ("mes pasado", Unit::Month, 1),
    ("este ano", Unit::Year, 0),
    ("ano pasado", Unit::Year, 1),
];

/// The words for units that can follow a number.
pub(super) const UNITS: &[(&str, Unit)] = &[
    ("day", Unit::Day),
    ("days", Unit::Day),
    ("week", Unit::Week),
    ("weeks", Unit::Week),
    ("month", Unit::Month),
    ("months", Unit::Month),
    ("year", Unit::Year),
    ("years", Unit::Year),
    ("tag", Unit::Day),
    ("tagen", Unit::Day),
    ("woche", Unit::Week),
    ("wochen", Unit::Week),
    ("monat", Unit::Month),
    ("monaten", Unit::Month),
    ("jahr", Unit::Year),
    ("jahren", Unit::Year),
    ("jour", Unit::Day),
    ("jours", Unit::Day),
    ("semaine", Unit::Week),
    ("semaines", Unit::Week),
    ("mois", Unit::Month),
    ("an", Unit::Year),
    ("ans", Unit::Year),
    ("dia", Unit::Day),
    ("dias", Unit::Day),
    ("semana", Unit::Week),
    ("semanas", Unit::Week),
    ("mes", Unit::Month),
    ("meses", Unit::Month),
    ("ano", Unit::Year),
    ("anos", Unit::Year),
];

/// The words for "ago" that precede the number. In English, "ago" follows it.
pub(super) const AGO: [&[&str]; 3] = [&["vor"], &["il", "y", "a"], &["hace"]];

pub(super) const NUMBERS: &[(&str, i64)] = &[
    ("a", 1),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("einem", 1),
    ("einer", 1),
    ("zwei", 2),
    ("drei", 3),
    ("un", 1),
    ("une", 1),
    ("deux", 2),
    ("trois", 3),
    ("una", 1),
    ("dos", 2),
    ("tres", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("vier", 4),
    ("funf", 5),
    ("sechs", 6),
    ("sieben", 7),
    ("acht", 8),
    ("neun", 9),
    ("zehn", 10),
    ("quatre", 4),
    ("cinq", 5),
    ("sept", 7),
    ("huit", 8),
    ("neuf", 9),
    ("dix", 10),
    ("cuatro", 4),
    ("cinco", 5),
    ("seis", 6),
    ("siete", 7),
    ("ocho", 8),
    ("nueve", 9),
    ("diez", 10),
];

/// The days of the week from Monday, for each language.
pub(super) const WEEKDAYS: [[&str; 7]; 4] = [
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
    ["montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"],
    ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
    ["lunes", "martes", "miercoles", "jueves", "viernes", "sabado", "domingo"],
];

/// The months from January, for each language.
pub(super) const MONTHS: [[&str; 12]; 4] = [
    [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ],
    [
        "januar",
        "februar",
        "marz",
        "april",
        "mai",
        "juni",
        "juli",
        "august",
        "september",
        "oktober",
        "november",
        "dezember",
    ],
    [
        "janvier",
        "fevrier",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "aout",
        "septembre",
        "octobre",
        "novembre",
        "decembre",
    ],
    [
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ],
];

/// Months whose names are also other words, such as "may". Without a day or a year, such a month
/// counts only after one of the listed words, or in a range.
pub(super) const AMBIGUOUS: &[(&str, &[&str])] = &[
    ("march", IN),
    ("may", IN),
    ("june", IN),
    ("april", IN_OR_IM),
    ("august", IN_OR_IM),
    ("avril", &["en", "depuis"]),
    ("mai", &["en", "im", "seit", "depuis"]),
    ("mars", &["en", "depuis"]),
    ("mayo", &["en", "desde"]),
];

const IN: &[&str] = &["in", "since", "during", "last"];
const IN_OR_IM: &[&str] = &["in", "since", "during", "last", "im", "seit"];

/// Months that need a capital letter even beside a day: "chapter 5 may help" names no month.
pub(super) const NEEDS_CAPITAL: &[&str] = &["march", "may"];

/// The words after which a number can be a year.
pub(super) const BEFORE_YEAR: &[&str] =
    &["in", "since", "during", "im", "seit", "en", "depuis", "desde", "jahr", "year"];

/// A day after one of these words means all days from that day to today.
pub(super) const SINCE: &[&str] = &["since", "seit", "depuis", "desde"];

/// Words between a week and a day of the week, as in "last week on Tuesday".
pub(super) const ON: &[&str] = &["on", "am", "le", "el"];

/// After one of these words, two days mean a range from the first to the second day.
pub(super) const RANGE: &[&str] =
    &["between", "from", "through", "zwischen", "vom", "von", "entre", "du", "del"];

/// Words between the ends of a range.
pub(super) const TO: &[&str] =
    &["to", "through", "until", "till", "bis", "au", "al", "hasta", "jusqu"];

/// Dashes between the ends of a range, also those that only look like one.
pub(super) const DASHES: &[&str] = &["-", "\u{2010}", "\u{2011}", "\u{2012}", "–", "—", "\u{2212}"];

/// Words between the ends of a range, but only after a word of [`BOTH`].
pub(super) const AND: &[&str] = &["and", "und", "et", "y"];

/// The words that need two ends.
pub(super) const BOTH: &[&str] = &["between", "zwischen", "entre"];

/// Articles before a day, also joined with a preposition.
pub(super) const ARTICLES: &[&str] = &["the", "dem", "den", "zum", "le", "la", "el", "au"];

/// Words before a day of the week that mean a day before today, as in "last Friday".
pub(super) const LAST: &[&str] =
    &["last", "previous", "letzten", "letzter", "vergangenen", "vorigen", "ultimo"];

/// Words after a day of the week that mean a day before today, as in "vendredi dernier".
pub(super) const LAST_AFTER: &[&str] = &["dernier", "derniere", "passe", "pasado"];

/// A day after one of these words is not used: the words mean the future, or a range without a
/// known end.
pub(super) const OTHER: &[&str] = &[
    "next",
    "coming",
    "before",
    "until",
    "till",
    "after",
    "every",
    "each",
    "nachsten",
    "nachster",
    "nachstes",
    "kommenden",
    "bis",
    "nach",
    "jeden",
    "avant",
    "apres",
    "chaque",
    "proximo",
    "proxima",
    "hasta",
    "cada",
];

/// A day before one of these words is not used: the words mean the future.
pub(super) const OTHER_AFTER: &[&str] = &["prochain", "prochaine", "proximo", "proxima"];

/// Words between a day and its month, and between a month and its year.
pub(super) const BETWEEN: &[&str] = &["of", "de", "del"];
