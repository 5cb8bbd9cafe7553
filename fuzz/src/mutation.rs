//! Mutations of an input. Most change whole lines and blocks, so that the input stays a readable
//! text.

use crate::random::Random;
use crate::random_markdown::BLOCKS;

/// Texts that occur in documents of this project.
const WORDS: &[&str] = &[
    "# Agent Memory Session",
    "# Agent Memory Schema v1",
    "## Header",
    "- Agent Name: aristotle",
    "- Date: 2025-01-20",
    "**Agent Name:** aristotle",
    "**Date:** 2025-01-20",
    "- Schema: v2",
    "## Context",
    "## Discussion Summary",
    "## Decisions",
    "## Open Questions",
    "## Next Actions",
    "Decisions\n---",
    "> ## Decisions",
    "## Overview",
    "\u{feff}",
    "\u{2028}",
    "\u{85}",
    "\0",
];

const JSON: &[&str] = &[
    "\"agent_name\"",
    "\"repo_root\"",
    "\"date\"",
    "\"section\"",
    "\"content\"",
    "\"mode\"",
    "\"limit\"",
    "\"cursor\"",
    "\"settings\"",
    "\"toolsets\"",
    "\"now\"",
    "\"zone\"",
    "\"offset_minutes\"",
    "\"changes\"",
    "\"agents\"",
    "\"seed\"",
    "\"sessions\"",
    "\"append\"",
    "\"replace\"",
    "\"/project\"",
    "\"/project/..\"",
    "\"C:\\\\x\"",
    "\"aristotle\"",
    "\"Aristotle\"",
    "\"con.x\"",
    "\"a..b\"",
    "\"2025-01-20\"",
    "\"0000-00-00\"",
    "\"9999-12-31T23:59:59.999Z\"",
    "\"-009999-01-01T00:00:00Z\"",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "\"\\ud83d\\ude00\"",
    "2147483647",
    "-2147483648",
    "18446744073709551616",
    "-0",
    "1e999",
    "1.0",
    "null",
    "true",
    "[]",
    "{}",
    "[[[[[[[[[[[[[[[[",
    "{\"a\":",
    ",",
    ":",
    "\"",
    "\\",
];

const STARTS: &[&str] = &[" ", "  ", "    ", "\t", "> ", "- ", "1. ", "#", "\u{a0}"];
const ENDS: &[&str] = &["\n", "\r\n", "\r", "\n\n", " ", "\u{3000}", "\\", "#"];

/// An input with one to four changes.
pub fn mutated(input: &[u8], random: &mut Random) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> =
        input.split_inclusive(|c| *c == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..=random.below(4) {
        if lines.is_empty() {
            lines.push(Vec::new());
        }
        let at = random.below(lines.len());
        match random.below(10) {
            0..3 => lines.insert(at, block(random)),
            3 => lines[at] = block(random),
            4 => drop(lines.remove(at)),
            5 => {
                let copied = random.pick(&lines).clone();
                lines.insert(at, copied);
            }
            6 => {
                let other = random.below(lines.len());
                lines.swap(at, other);
            }
            7 => drop(lines[at].splice(0..0, random.pick(STARTS).bytes())),
            8 => {
                let line = &mut lines[at];
                line.truncate(line.trim_ascii_end().len());
                line.extend(random.pick(ENDS).bytes());
            }
            _ => {
                let byte = random.below(lines[at].len() + 1);
                let words = [BLOCKS, WORDS, JSON, JSON][random.below(4)];
                drop(lines[at].splice(byte..byte, random.pick(words).bytes()));
            }
        }
    }
    lines.concat()
}

fn block(random: &mut Random) -> Vec<u8> {
    let words = if random.below(4) == 0 { WORDS } else { BLOCKS };
    let end = if random.below(4) == 0 { *random.pick(ENDS) } else { "\n" };
    format!("{}{end}", random.pick(words)).into_bytes()
}

/// An input with bytes flipped, removed, doubled or inserted, as libFuzzer does.
pub fn damaged(input: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(16)).min(bytes.len());
        match random.below(4) {
            0 => drop(bytes.drain(at..end)),
            1 => bytes.insert(at, random.number() as u8),
            2 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            _ => bytes[at..end].iter_mut().take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
        }
    }
    bytes
}
