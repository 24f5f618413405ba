//! A sizing in progress: the deployment, the sheet, and the findings.

use std::borrow::Cow;
use std::cell::OnceCell;

use plan::Deployment;
use plan::deployment::Figure;

use crate::finding::{DesignFinding, DesignProblem, Severity};
use crate::key::Key;
use crate::number::Number;
use crate::quantity::{ShownQuantity, beside};
use crate::quirk::Quirk;
use crate::sheet::Sheet;

/// A mistake of the workbook that affects this deployment.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The mistake.
    pub quirk: Quirk,
    /// The affected result.
    pub key: Key,
    /// The workbook's value and the correct one, if they are numbers.
    pub values: Option<(f64, f64)>,
}

/// Finds the problems of a deployment.
pub(crate) type Judge = Box<dyn Fn(&Deployment) -> Vec<DesignProblem>>;

/// Everything that formulas read and write.
pub(crate) struct Work<'d> {
    /// The deployment to size.
    pub deployment: &'d Deployment,
    /// The values known so far.
    pub sheet: Sheet,
    /// Mistakes of the workbook that matter here.
    pub notes: Vec<Note>,
    /// Problems of the deployment.
    pub findings: Vec<DesignFinding>,
    /// Judge changed deployments, first by the formulas alone, which is quick and rejects most
    /// changes, then with the layout; `None` if no change is tried.
    pub(crate) judges: Option<[Judge; 2]>,
    /// What these find in the deployment itself, once a change is compared with it.
    pub(crate) known: OnceCell<[Vec<DesignProblem>; 2]>,
}

impl<'d> Work<'d> {
    pub(crate) fn new(deployment: &'d Deployment) -> Self {
        Self {
            deployment,
            sheet: Sheet::default(),
            notes: Vec::new(),
            findings: Vec::new(),
            judges: None,
            known: OnceCell::new(),
        }
    }

    /// The number under `key`.
    pub(crate) fn get(&self, key: Key) -> Number {
        self.sheet.get(key)
    }

    /// The value under `key`.
    pub(crate) fn value(&self, key: Key) -> f64 {
        self.sheet.get(key).value()
    }

    /// The number under `key` with its unit, as tables show it.
    pub(crate) fn shown(&self, key: Key) -> String {
        ShownQuantity::of_number(key, self.value(key)).written()
    }

    /// The numbers under two keys, the second of which limits the first.
    pub(crate) fn beside(&self, key: Key, limit: Key) -> [String; 2] {
        beside((key, self.value(key)), (limit, self.value(limit)))
    }

    /// Records a result and returns it under its name.
    pub(crate) fn put(&mut self, key: Key, number: impl Into<Number>) -> Number {
        self.sheet.put(key, number)
    }

    /// A figure of the product by name and value.
    pub(crate) fn figure(
        &mut self,
        name: &'static str,
        of: fn(&plan::deployment::Figures) -> &Figure,
    ) -> Number {
        self.sheet.figure(name, of(&self.deployment.product.figures))
    }

    /// Returns the workbook's number or the correct one, depending on the mode, and records a
    /// difference.
    pub(crate) fn either(
        &mut self,
        quirk: Quirk,
        key: Key,
        workbook: Number,
        right: Number,
    ) -> Number {
        let values = (workbook.value(), right.value());
        if (values.0 - values.1).abs() > 1e-9 * values.1.abs().max(1.0) {
            self.note(quirk, key, Some(values));
        }
        if self.deployment.is_compatible() { workbook } else { right }
    }

    /// Records a mistake that affects `key`.
    pub(crate) fn note(&mut self, quirk: Quirk, key: Key, values: Option<(f64, f64)>) {
        self.notes.push(Note { quirk, key, values });
    }

    /// Records a problem.
    pub(crate) fn find(
        &mut self,
        severity: Severity,
        key: Key,
        text: String,
        remedy: impl Into<Cow<'static, str>>,
    ) {
        self.findings.push(DesignFinding { severity, key, text, remedy: remedy.into() });
    }
}
