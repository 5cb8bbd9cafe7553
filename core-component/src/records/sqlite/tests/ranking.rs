//! The candidates of the index are those of all rows.

use serde_json::json;

use super::Host;
use crate::ranking::{Match, Query};
use crate::records::candidates::{Candidates, of_all};
use crate::records::search::add_candidates;
use crate::records::sqlite::SqliteReader;
use crate::records::sqlite::row::{COLUMNS, Row};
use crate::records::sqlite::sql::statement;
use crate::records::store::Reader;
use crate::source::{Entries, EntryId, Owner, Request};
use crate::storage::database::Mode;
use crate::time::Timestamp;
use crate::work::Work;
use crate::zone::Zone;

/// Words by how often they occur: the one at index `n` in one of `n + 1` memories.
const WORDS: [&str; 8] = ["run", "kites", "fly", "planes", "collide", "東京都", "tests", "straße"];

/// As many memories that the more common words exceed the limit of matches.
const MEMORIES: usize = 1_700;

fn request(query: &str) -> Request {
    Request {
        work: Work::of_search(),
        query: Query::of(query),
        embedder: None,
        vector: None,
        agent: None,
        repo_root: None,
        from: None,
        to: None,
        zone: Zone::default(),
        now: Timestamp::from_milliseconds(1_800_000_000_000).expect("in range"),
        include_archived: false,
        ignores_indexes: false,
    }
}

/// Each hit with the bits of its score, in the order of the candidates, and the number of entries.
fn hits(request: &Request, candidates: Candidates) -> (Vec<(EntryId, u64, u64)>, u64) {
    let mut entries = Entries::of(request);
    entries.begin(Owner::default());
    add_candidates(&mut entries, candidates, "ada", "query_memories");
    let found = entries.found();
    let hits = found.candidates.into_iter().map(|ranked| {
        let id = ranked.entry.1.id.expect("an id");
        (id, ranked.score.to_bits(), ranked.coverage.to_bits())
    });
    (hits.collect(), found.owners[0].1)
}

#[test]
fn the_index_finds_the_hits_and_the_scores_of_reading_everything() {
    let host = Host::new();
    let mut state = 5_u64;
    let mut below = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        (state >> 33) % most
    };
    let mut minutes = 0;
    let mut record = |number: usize| {
        let words = (0..WORDS.len()).filter(|at| below(*at as u64 + 1) == 0);
        let mut words: Vec<String> = words.map(|at| WORDS[at].to_owned()).collect();
        words.extend((below(40) == 0).then(|| format!("rare{}", below(9))));
        minutes += [0, 1, 20, 45][below(4) as usize];
        let moment = Timestamp::from_milliseconds(1_700_000_000_000 + 60_000 * minutes);
        json!({
            "id": format!("{:08}-0000-4000-8000-000000000000", below(100_000_000)),
            "type": (["core", "learning", "task"][below(3) as usize]),
            "content": format!("{} {number}", words.join(" ")),
            "tags": if below(9) == 0 { json!(["running", "tag"]) } else { json!([]) },
            "archived": below(6) == 0, "created_at": moment.expect("in range").to_string(),
        })
        .to_string()
    };
    let lines: Vec<String> = (0..MEMORIES).map(&mut record).collect();
    for page in lines.chunks(500) {
        host.call("import_records", &json!({"agent_id": "ada", "records": page.join("\n")}));
        host.add("other", "kites of another agent fly too");
    }
    for number in 0..20 {
        host.add("ada", &format!("pending kites of {number} run"));
    }
    assert!(!host.pending().is_empty());
    let database = host.database();
    let view = database.begin(Mode::Read).expect("a view");
    let reader = SqliteReader::of(&*view, "ada").expect("a reader");
    let in_order = format!(
        "SELECT {COLUMNS} FROM memories AS m JOIN agents AS a ON a.key = m.agent \
         WHERE a.name = 'ada' ORDER BY m.key"
    );
    let all = || {
        let rows = view.query(&statement(&in_order, []), 10_000).expect("rows").rows.into_iter();
        rows.map(|row| Row::read(row).expect("a row").memory).collect()
    };
    for question in [
        "rare1",
        "rare2 kites",
        "straße",
        "tests collide",
        "run",
        "running kite planes",
        "東京",
        "rare1 rare2 rare3 tests",
        "nothing",
        "",
        "the of",
        "1 2 3 flies 44 pending",
        "tag",
    ] {
        for (archived, from, to) in [
            (false, None, None),
            (true, None, None),
            (false, Some(9), None),
            (true, Some(5), Some(12)),
        ] {
            let day = |day: Option<i64>| {
                day.and_then(|day| {
                    Timestamp::from_milliseconds(1_700_000_000_000 + 86_400_000 * day)
                })
            };
            let request = Request {
                include_archived: archived,
                from: day(from),
                to: day(to),
                ..request(question)
            };
            let by_index = reader.candidates(&request).expect("candidates");
            let of_all = of_all(all(), &request).expect("candidates");
            assert_eq!(by_index.with_term, of_all.with_term, "{question}");
            let (found, expected) = (hits(&request, by_index), hits(&request, of_all));
            assert_eq!(found, expected, "{question} {archived} {from:?} {to:?}");
        }
    }
    let many = reader.candidates(&request("run")).expect("candidates");
    assert!(many.with_term[0] > 1_000);
    assert_eq!(many.near.iter().filter(|near| near.matches == Match::Words).count(), 500);
}
