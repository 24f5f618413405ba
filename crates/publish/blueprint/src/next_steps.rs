//! The section with what to do next, the same on every page of this crate.

use report::document::{Block, Fact, Section};

/// The section of these steps; `None` without any.
pub(crate) fn section(steps: &[String]) -> Option<Section> {
    let facts: Vec<Fact> = steps.iter().map(|step| Fact::new("Next step", step)).collect();
    let blocks = vec![Block::Facts(facts)];
    (!steps.is_empty()).then_some(Section { id: "what-follows", title: "Next Steps", blocks })
}
