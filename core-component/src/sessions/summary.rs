//! The summary: what an agent and its people want to last.

/// What a summary holds before anyone has written to it.
pub(super) const TEMPLATE: &str = "\
# Agent Summary

## Overview

## Key Knowledge

## Active Decisions

## Important Patterns
";
