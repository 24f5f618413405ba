//! Combines rules and simulation into one answer: headline, colour and exit status. Text, page,
//! JSON and the program all use it.

use report::document::Tone;
use report::lacking;
use verdict::Ruling;

use super::PredictedDesign;

/// Combined answer of rules and simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DesignAnswer {
    is_workable: bool,
    simulated: Option<Ruling>,
    /// Whether a simulation was requested and refused.
    is_refused: bool,
    /// What a passing simulation lacks, in two words.
    lacking: Option<&'static str>,
    /// Whether no rule judged the processors.
    is_unsized: bool,
}

/// What the headline of a design lacks whose processors no rule judged.
pub(crate) const UNSIZED: &str = "processors not sized";

impl DesignAnswer {
    pub(super) fn new(
        (is_workable, is_unsized): (bool, bool),
        (predicted, is_refused): (Option<&PredictedDesign>, bool),
    ) -> Self {
        Self {
            is_workable,
            is_unsized,
            is_refused,
            simulated: predicted.map(|of| of.verdict.outcome),
            lacking: predicted.and_then(|of| lacking(&of.verdict)),
        }
    }

    /// The headline.
    pub(super) fn headline(self) -> String {
        let mut headline = self.combined().to_owned();
        for lacking in self.lacking.into_iter().chain(self.unsized_processors()) {
            headline.push_str(", ");
            headline.push_str(lacking);
        }
        headline
    }

    /// Says that processors are not sized, unless the design fails without them.
    fn unsized_processors(self) -> Option<&'static str> {
        (self.is_unsized && self.exit_code() != 1).then_some(UNSIZED)
    }

    const fn combined(self) -> &'static str {
        match (self.is_workable, self.simulated) {
            (true, None) if self.is_refused => "Within the rules, not simulated",
            (true, None) => "Workable",
            (false, None) => "Not workable",
            (true, Some(Ruling::Pass | Ruling::Warn)) => "Workable, and simulated to pass",
            (true, Some(Ruling::Fail)) => "Within the rules, but simulated to fail",
            (true, Some(Ruling::CannotJudge)) => "Within the rules, simulation inconclusive",
            (false, Some(Ruling::Pass | Ruling::Warn)) => "Not workable, though simulated to pass",
            (false, Some(Ruling::Fail)) => "Not workable, and simulated to fail",
            (false, Some(Ruling::CannotJudge)) => "Not workable, simulation inconclusive",
        }
    }

    /// Tone of the headline: that of rules or simulation, whichever is worse.
    pub(super) const fn tone(self) -> Tone {
        match (self.is_workable, self.simulated, self.lacking) {
            (false, ..) | (_, Some(Ruling::Fail), _) => Tone::Fail,
            (true, Some(Ruling::CannotJudge), _) | (true, _, Some(_)) => Tone::Warn,
            (true, None, None) if self.is_refused => Tone::Warn,
            (true, ..) if self.is_unsized => Tone::Warn,
            (true, None | Some(Ruling::Pass | Ruling::Warn), None) => Tone::Pass,
        }
    }

    /// The program's exit status: 0 pass, 1 fail, 2 if the simulation is inconclusive or refused. A
    /// design that violates a rule fails, whatever a simulation would say.
    pub(super) const fn exit_code(self) -> u8 {
        match (self.is_workable, self.simulated) {
            (false, _) | (true, Some(Ruling::Fail)) => 1,
            (true, None) if self.is_refused => 2,
            (true, Some(Ruling::CannotJudge)) => 2,
            (true, None | Some(Ruling::Pass | Ruling::Warn)) => 0,
        }
    }

    /// The exit status and its reason.
    pub(super) fn exit_status(self) -> String {
        let because = match (self.is_workable, self.simulated) {
            (false, None) => "a rule is violated",
            (false, Some(_)) => "a rule is violated, whatever the simulation says",
            (true, None) if self.is_refused => "no rule is violated, but nothing was simulated",
            (true, None) => "no rule is violated",
            (true, Some(Ruling::Pass | Ruling::Warn)) => {
                "no rule is violated, and the simulated disks carry the load"
            }
            (true, Some(Ruling::Fail)) => {
                "no rule is violated, but the simulated disks exceed a limit"
            }
            (true, Some(Ruling::CannotJudge)) => {
                "no rule is violated, but the simulation cannot be judged"
            }
        };
        format!("Exit status {}: {because}.", self.exit_code())
    }
}

#[cfg(test)]
mod tests {
    use report::document::Tone;

    use super::DesignAnswer;

    /// A design that violates a rule is judged already.
    #[test]
    fn a_refused_simulation_leaves_only_a_workable_design_unjudged() {
        let answers = [(true, 2, "Within the rules, not simulated"), (false, 1, "Not workable")];
        for (is_workable, code, headline) in answers {
            let answer = DesignAnswer::new((is_workable, false), (None, true));
            assert_eq!((answer.exit_code(), &*answer.headline()), (code, headline));
        }
    }
    /// Processors of unknown speed do not change the exit status, and no headline is green.
    #[test]
    fn a_workable_design_says_that_its_processors_are_not_sized() {
        let cases = [
            ((true, true), "Workable, processors not sized", Tone::Warn, 0),
            ((true, false), "Workable", Tone::Pass, 0),
            ((false, true), "Not workable", Tone::Fail, 1),
        ];
        for (rules, headline, tone, code) in cases {
            let answer = DesignAnswer::new(rules, (None, false));
            assert_eq!((&*answer.headline(), answer.exit_code()), (headline, code));
            assert!(answer.tone() == tone, "{headline}");
        }
    }
}
